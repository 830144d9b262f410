import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import {
  drawButton,
  drawEmpty,
  drawHeading,
  drawMarkdown,
  drawTag,
  formatPerson,
  formatTime,
} from "../draw.ts";
import { drawEditForm } from "../edit-form.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { numberOf, objectOf, textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { drawEditButton, drawRowForm, isEdited, saveRow } from "./edit-row.ts";
import { nameField, textField } from "./system-fields.ts";

/** Shows a thread with its messages. What the reader may change, they change in place. */
export async function showThread(
  context: SectionContext,
  threadId: string,
): ReturnType<ShowSection> {
  const { api, link, owns, route } = context;
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
  markRead(context, thread, messages.at(-1));
  const isOpen = textOf(thread, "status") === "open";
  const items = messages.map((message) => drawMessage(context, message, isOpen));
  const found = messages.findIndex((message) => isFound(context, message));
  if (found >= 0) showFound(items[found]);
  return ok([
    up,
    drawHeading(textOf(thread, "title"), drawTag(textOf(thread, "status"))),
    ...drawThreadActions(context, thread),
    el("ol", { class: "messages", "aria-label": "Messages" }, ...items),
    ...drawMore(context, read.value),
    ...(isOpen ? [drawReply(context, threadId)] : []),
  ]);
}

/** The newest message that this page has marked as read, by thread. */
const marked = new Map<string, number>();

/** Pages of messages that are read at once: the newest message stands at the end. */
const FIRST_PAGES = 10;

function markRead({ act }: SectionContext, thread: JsonObject, last: JsonObject | undefined): void {
  if (!last || numberOf(thread, "unreadCount") === 0) return;
  const [threadId, number] = [textOf(thread, "id"), numberOf(last, "number")];
  // The mark changes the thread, which is then read again.
  if ((marked.get(threadId) ?? 0) < number) void act("mark_thread_read", { threadId, number });
  marked.set(threadId, number);
}

/** Title and state of a thread. A thread that became a brainstorm stays closed. */
function drawThreadActions(context: SectionContext, thread: JsonObject): HTMLElement[] {
  const edited = { entity: "idea_thread", row: thread } as const;
  if (isEdited(context, edited)) {
    const fields = [{ ...nameField("Title"), name: "title" }];
    return [drawRowForm(context, { ...edited, fields })];
  }
  const isOpen = textOf(thread, "status") === "open";
  const setStatus = (text: string, status: string) =>
    drawButton(text, () => saveRow(context, edited, { status }));
  const brainstormId = textOf(thread, "brainstormId");
  const state = isOpen
    ? [drawSynthesis(context, thread), setStatus("Close", "finalized")]
    : brainstormId === ""
      ? [setStatus("Open again", "open")]
      : [drawBrainstormLink(context, brainstormId)];
  return [el("div", { class: "actions" }, drawEditButton(context, edited), ...state)];
}

function drawBrainstormLink({ link }: SectionContext, brainstormId: string): HTMLElement {
  const href = link("ideas", `brainstorm:${brainstormId}`);
  return el("a", { class: "button", href, "data-key": href }, "Open its brainstorm");
}

/** A thread that came to an end becomes a brainstorm, with its notes and results. */
function drawSynthesis({ projectId, act, go }: SectionContext, thread: JsonObject): HTMLElement {
  return drawButton("Make a brainstorm of it", async () => {
    const args = { projectId, threadIds: [textOf(thread, "id")], title: textOf(thread, "title") };
    const data = await act("finalize_threads_to_brainstorm", args);
    const made = data && textOf(objectOf(data, "brainstorm"), "id");
    if (made) go({ section: "ideas", itemId: `brainstorm:${made}` });
  });
}

/** A message. The server tells its revision to who wrote it, who alone may change it. */
function drawMessage(context: SectionContext, message: JsonObject, isOpen: boolean): HTMLElement {
  const edited = { entity: "idea_message", row: message } as const;
  const facts = [formatPerson(textOf(message, "author")), formatTime(textOf(message, "at"))];
  const note = el("p", { class: "note" }, facts.filter(Boolean).join(", "));
  const isOwn = numberOf(message, "revision") > 0;
  if (isOwn && isEdited(context, edited)) {
    const fields = [{ ...textField("text", "What you wrote"), check: checkMessage }];
    return el("li", {}, note, drawRowForm(context, { ...edited, fields }));
  }
  const text = textOf(message, "text");
  const actions = isOwn && isOpen ? [drawMessageActions(context, message)] : [];
  return el("li", {}, note, drawMarkdown(text), ...actions);
}

/** Longest part of a message that names it for screen readers. Unit: characters. */
const NAMED = 40;

function drawMessageActions(context: SectionContext, message: JsonObject): HTMLElement {
  const [id, revision] = [textOf(message, "id"), numberOf(message, "revision")];
  const name = textOf(message, "text").slice(0, NAMED);
  const args = { entity: "idea_message", id, revision };
  const remove = drawButton("Move to bin", () => context.act("discard", args), {
    "data-key": `remove:${id}`,
    "aria-label": `Move to bin: ${name}`,
  });
  const edit = drawEditButton(context, { row: message }, name);
  return el("div", { class: "actions" }, edit, remove);
}

/** Tells whether the address names a message, as the links of the search do. */
function isFound({ route }: SectionContext, message: JsonObject): boolean {
  return queryOf(route, "message") === String(numberOf(message, "number"));
}

/** The address whose message was brought into view. Later reads of it leave the reader's place. */
let foundAt = "";

function showFound(item: HTMLElement | undefined): void {
  item?.classList.add("message-found");
  if (foundAt === location.hash) return;
  foundAt = location.hash;
  setTimeout(() => item?.scrollIntoView({ block: "center" }));
}

function drawReply({ act }: SectionContext, threadId: string): HTMLElement {
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
