import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawEmpty, drawGroup, drawHeading, drawRows, drawTag, plural } from "../draw.ts";
import { byText, drawChoices, filtersIn, type ListChoices, readOrdered } from "../list-tools.ts";
import { drawMore } from "../pages.ts";
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

/** The filter is about threads alone. The orders are about both lists. */
const CHOICES: ListChoices = {
  filters: [{ name: "status", label: "Threads", values: ["open", "finalized"] }],
  orders: [
    { name: "", label: "Newest first" },
    { name: "title", label: "Title", compare: byText("title") },
    {
      name: "active",
      label: "Last message",
      compare: (a, b) => byText("lastMessageAt")(b, a) || byText("createdAt")(b, a),
    },
  ],
};

const showLists: ShowSection = async (context) => {
  const { projectId, link, route } = context;
  const filters = filtersIn(route, CHOICES.filters);
  const lists = [
    { tool: "list_idea_threads", args: { projectId, ...filters } },
    { tool: "list_brainstorms", args: { projectId } },
  ] as const;
  const [threads, brainstorms] = await Promise.all([
    readOrdered(context, lists[0], CHOICES),
    readOrdered(context, lists[1], { ...CHOICES, pages: MORE_BRAINSTORMS }),
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
  const count = threadRows.length + brainstormRows.length;
  const isFiltered = Object.keys(filters).length > 0;
  if (count === 0 && !isFiltered) {
    const hint = 'Say in the chat: "Start a thread about the boss fight."';
    return ok([heading, drawEmpty("Nobody has written an idea yet.", hint)]);
  }
  const tools =
    isFiltered || count > 1
      ? [el("div", { class: "tools" }, ...drawChoices(context, CHOICES))]
      : [];
  return ok([
    heading,
    ...tools,
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
