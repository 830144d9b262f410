import { ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import { drawEmpty, drawGroup, drawHeading, drawRows, drawTag, plural } from "../draw.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { numberOf, textOf, textsOf } from "../read-json.ts";
import type { ShowSection } from "../section.ts";
import { showBrainstorm } from "./brainstorm.ts";
import { NEW, showNewBrainstorm, showNewThread } from "./new-idea.ts";
import { showThread } from "./thread.ts";

export const showIdeas: ShowSection = (context) => {
  const [kind, id] = splitId(context.route.itemId);
  if (id === undefined) return showLists(context);
  if (id === NEW) return kind === "thread" ? showNewThread(context) : showNewBrainstorm(context);
  return kind === "brainstorm" ? showBrainstorm(context, id) : showThread(context, id);
};

/** Threads and brainstorms share a section, so an address says which of the two it means. */
function splitId(itemId = ""): readonly [kind: string, id: string | undefined] {
  const [kind = "", id] = itemId.split(":");
  return [kind, id];
}

const showLists: ShowSection = async (context) => {
  const { api, projectId, link, route } = context;
  const [threads, brainstorms] = await Promise.all([
    readPages(api, { tool: "list_idea_threads", args: { projectId } }, pagesIn(route)),
    readPages(
      api,
      { tool: "list_brainstorms", args: { projectId } },
      pagesIn(route, MORE_BRAINSTORMS),
    ),
  ]);
  if (!threads.ok) return threads;
  if (!brainstorms.ok) return brainstorms;
  const threadRows = threads.value.items.map((thread) => ({
    href: link("ideas", `thread:${textOf(thread, "id")}`),
    name: textOf(thread, "title"),
    facts: [
      ...drawUnread(numberOf(thread, "unreadCount")),
      plural(numberOf(thread, "messageCount"), "message"),
      drawTag(textOf(thread, "status")),
    ],
  }));
  const brainstormRows = brainstorms.value.items.map((session) => ({
    href: link("ideas", `brainstorm:${textOf(session, "id")}`),
    name: textOf(session, "title"),
    facts: [plural(numberOf(session, "outputs"), "result"), ...textsOf(session, "tags")],
  }));
  const heading = drawHeading(
    "Ideas",
    el("a", { class: "button", href: link("ideas", `thread:${NEW}`) }, "Start a thread"),
    el("a", { class: "button", href: link("ideas", `brainstorm:${NEW}`) }, "Add a brainstorm"),
  );
  if (threadRows.length + brainstormRows.length === 0) {
    const hint = 'Say in the chat: "Start a thread about the boss fight."';
    return ok([heading, drawEmpty("Nobody has written an idea yet.", hint)]);
  }
  return ok([
    heading,
    ...drawGroup(
      "Threads",
      ...(threadRows.length > 0 ? [drawRows("Threads", threadRows)] : []),
      ...drawMore(context, threads.value),
    ),
    ...drawGroup(
      "Brainstorms",
      ...(brainstormRows.length > 0 ? [drawRows("Brainstorms", brainstormRows)] : []),
      ...drawMore(context, brainstorms.value, MORE_BRAINSTORMS),
    ),
  ]);
};

/** The name of the number of pages, beside that of the threads. */
const MORE_BRAINSTORMS = "brainstorms";

function drawUnread(count: number): HTMLElement[] {
  return count === 0 ? [] : [el("span", { class: "unread" }, `${count} unread`)];
}
