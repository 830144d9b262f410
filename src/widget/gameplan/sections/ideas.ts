import type { JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import {
  drawButton,
  drawEmpty,
  drawGroup,
  drawHeading,
  drawMarkdown,
  drawRows,
  drawTag,
  formatMade,
  formatPerson,
  formatTime,
  inWords,
  plural,
} from "../draw.ts";
import { drawEditForm } from "../edit-form.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { NEW, showNewBrainstorm, showNewThread } from "./new-idea.ts";
import { textField } from "./system-fields.ts";

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

async function showThread(context: SectionContext, threadId: string): ReturnType<ShowSection> {
  const { api, act, link, owns, route } = context;
  const pages = Math.max(FIRST_PAGES, pagesIn(route));
  const read = await readPages(api, { tool: "get_thread_messages", args: { threadId } }, pages);
  const up = el("a", { class: "up", href: link("ideas"), "data-key": "up" }, "All ideas");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    return ok([up, drawEmpty("This thread is not in the project any more.", "")]);
  }
  const thread = objectOf(read.value.first, "thread");
  if (!owns(thread)) return ok([]);
  const messages = read.value.items;
  const last = messages.at(-1);
  if (last && numberOf(thread, "unreadCount") > 0) {
    const number = numberOf(last, "number");
    // The mark changes the thread, which is then read again.
    if ((marked.get(threadId) ?? 0) < number) void act("mark_thread_read", { threadId, number });
    marked.set(threadId, number);
  }
  const items = messages.map((message) => {
    const facts = [formatPerson(textOf(message, "author")), formatTime(textOf(message, "at"))];
    return el(
      "li",
      {},
      el("p", { class: "note" }, facts.filter(Boolean).join(", ")),
      drawMarkdown(textOf(message, "text")),
    );
  });
  return ok([
    up,
    drawHeading(textOf(thread, "title"), drawTag(textOf(thread, "status"))),
    el("ol", { class: "messages", "aria-label": "Messages" }, ...items),
    ...drawMore(context, read.value),
    ...(textOf(thread, "status") === "open"
      ? [drawReply(act, threadId), drawSynthesis(context, thread)]
      : []),
  ]);
}

/** A thread that came to an end becomes a brainstorm, with its notes and results. */
function drawSynthesis({ projectId, act, go }: SectionContext, thread: JsonObject): HTMLElement {
  const make = drawButton("Make a brainstorm of it", async () => {
    const args = { projectId, threadIds: [textOf(thread, "id")], title: textOf(thread, "title") };
    const data = await act("finalize_threads_to_brainstorm", args);
    const made = data && textOf(objectOf(data, "brainstorm"), "id");
    if (made) go({ section: "ideas", itemId: `brainstorm:${made}` });
  });
  return el("div", { class: "actions" }, make);
}

/** The newest message that this page has marked as read, by thread. */
const marked = new Map<string, number>();

/** Pages of messages that are read at once: the newest message stands at the end. */
const FIRST_PAGES = 10;

function drawReply(act: SectionContext["act"], threadId: string): HTMLElement {
  return drawEditForm({
    id: `reply/${threadId}`,
    row: {},
    fields: [{ ...textField("text", "Your message"), check: checkMessage }],
    submit: "Post",
    isStanding: true,
    save: async (message) =>
      (await act("post_idea_message", { threadId, ...message })) !== undefined,
    close: () => undefined,
  });
}

function checkMessage(text: string): string | undefined {
  return text.trim() === "" ? "Write a message first." : undefined;
}

async function showBrainstorm(
  { api, link, owns, act, go }: SectionContext,
  brainstormId: string,
): ReturnType<ShowSection> {
  const read = await api.read("get_brainstorm", { brainstormId });
  const up = el("a", { class: "up", href: link("ideas"), "data-key": "up" }, "All ideas");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    return ok([
      up,
      drawEmpty("This brainstorm is not in the project any more.", "It may be in the bin."),
    ]);
  }
  const session = objectOf(read.value, "brainstorm");
  if (!owns(session)) return ok([]);
  const args = { brainstormId, revision: numberOf(session, "revision") };
  const remove = drawButton("Move to bin", async () => {
    if (await act("delete_brainstorm", args)) go({ section: "ideas" });
  });
  const outputs = listOf(session, "outputs").map((output) =>
    el(
      "li",
      {},
      el("strong", {}, inWords(textOf(output, "kind"))),
      drawMarkdown(textOf(output, "text")),
    ),
  );
  return ok([
    up,
    drawHeading(textOf(session, "title")),
    el("p", { class: "note" }, formatMade(session)),
    el("div", { class: "actions" }, remove),
    ...(outputs.length > 0 ? drawGroup("Results", el("ul", { class: "log" }, ...outputs)) : []),
    ...drawGroup("Notes", drawMarkdown(withoutIds(textOf(session, "content")))),
  ]);
}

/** Notes that an earlier release made of threads name each author by an id. */
function withoutIds(notes: string): string {
  return notes.replaceAll(/^\*\*user:([^*\s]+):\*\*/gm, "**$1:**");
}
