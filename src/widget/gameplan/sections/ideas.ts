import type { JsonObject } from "../../../protocol/json/value.ts";
import { fail, ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import {
  drawEmpty,
  drawGroup,
  drawHeading,
  drawRows,
  drawTag,
  formatMade,
  formatPerson,
  formatTime,
  inWords,
  plural,
} from "../draw.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "../read-json.ts";
import type { Section, SectionContext } from "../section.ts";

export const ideasSection: Section = {
  name: "ideas",
  title: "Ideas",
  entities: ["idea_thread", "idea_message", "brainstorm"],
  show: (context) => {
    const [kind, id] = splitId(context.route.itemId);
    if (id === undefined) return showLists(context);
    return kind === "brainstorm" ? showBrainstorm(context, id) : showThread(context, id);
  },
};

/** Threads and brainstorms share a section, so an address says which of the two it means. */
function splitId(itemId = ""): readonly [kind: string, id: string | undefined] {
  const [kind = "", id] = itemId.split(":");
  return [kind, id];
}

const showLists: Section["show"] = async ({ api, projectId, link }) => {
  const [threads, brainstorms] = await Promise.all([
    api.read("list_idea_threads", { projectId, limit: 100 }),
    api.read("list_brainstorms", { projectId, limit: 100 }),
  ]);
  if (!threads.ok) return threads;
  if (!brainstorms.ok) return brainstorms;
  const threadRows = listOf(threads.value, "items").map((thread) => ({
    href: link("ideas", `thread:${textOf(thread, "id")}`),
    name: textOf(thread, "title"),
    facts: [
      ...drawUnread(numberOf(thread, "unreadCount")),
      plural(numberOf(thread, "messageCount"), "message"),
      drawTag(textOf(thread, "status")),
    ],
  }));
  const brainstormRows = listOf(brainstorms.value, "items").map((session) => ({
    href: link("ideas", `brainstorm:${textOf(session, "id")}`),
    name: textOf(session, "title"),
    facts: [plural(numberOf(session, "outputs"), "result"), ...textsOf(session, "tags")],
  }));
  const heading = drawHeading("Ideas");
  if (threadRows.length + brainstormRows.length === 0) {
    const hint = 'Say in the chat: "Start a thread about the boss fight."';
    return ok([heading, drawEmpty("Nobody has written an idea yet.", hint)]);
  }
  return ok([
    heading,
    ...drawGroup("Threads", ...(threadRows.length > 0 ? [drawRows("Threads", threadRows)] : [])),
    ...drawGroup(
      "Brainstorms",
      ...(brainstormRows.length > 0 ? [drawRows("Brainstorms", brainstormRows)] : []),
    ),
  ]);
};

function drawUnread(count: number): HTMLElement[] {
  return count === 0 ? [] : [el("span", { class: "unread" }, `${count} unread`)];
}

async function showThread(
  { api, act, link }: SectionContext,
  threadId: string,
): ReturnType<Section["show"]> {
  const read = await readMessages(api, threadId);
  const up = el("a", { class: "up", href: link("ideas"), "data-key": "up" }, "All ideas");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    return ok([up, drawEmpty("This thread is not in the project any more.", "")]);
  }
  const { thread, messages } = read.value;
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
      el("p", { class: "prose" }, textOf(message, "text")),
    );
  });
  return ok([
    up,
    drawHeading(textOf(thread, "title"), drawTag(textOf(thread, "status"))),
    el("ol", { class: "messages", "aria-label": "Messages" }, ...items),
    ...(textOf(thread, "status") === "open" ? [drawReply(act, threadId)] : []),
  ]);
}

/** The newest message that this page has marked as read, by thread. */
const marked = new Map<string, number>();

/** Pages of 100 messages that are read. */
const MAX_PAGES = 10;

async function readMessages(api: SectionContext["api"], threadId: string) {
  const messages: JsonObject[] = [];
  let after = "";
  for (let page = 1; ; page += 1) {
    const args = { threadId, limit: 100, ...(after !== "" && { after }) };
    const read = await api.read("get_thread_messages", args);
    if (!read.ok) return read;
    messages.push(...listOf(read.value, "items"));
    after = textOf(read.value, "next");
    if (after === "" || page === MAX_PAGES) {
      return ok({ thread: objectOf(read.value, "thread"), messages });
    }
  }
}

function drawReply(act: SectionContext["act"], threadId: string): HTMLElement {
  const id = "reply";
  const text = el("textarea", { id, "data-key": `${id}:${threadId}`, rows: "3", required: "" });
  const button = el("button", { class: "primary" }, "Post");
  const form = el(
    "form",
    { class: "reply" },
    el("label", { for: id }, "Your message"),
    text,
    button,
  );
  const post = async (): Promise<void> => {
    const message = text.value.trim();
    if (message === "") return;
    button.disabled = true;
    if (await act("post_idea_message", { threadId, text: message })) text.value = "";
    button.disabled = false;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void post();
  });
  return form;
}

async function showBrainstorm(
  { api, link }: SectionContext,
  brainstormId: string,
): ReturnType<Section["show"]> {
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
  const outputs = listOf(session, "outputs").map((output) =>
    el("li", {}, el("strong", {}, inWords(textOf(output, "kind"))), ` ${textOf(output, "text")}`),
  );
  return ok([
    up,
    drawHeading(textOf(session, "title")),
    el("p", { class: "note" }, formatMade(session)),
    ...(outputs.length > 0 ? drawGroup("Results", el("ul", { class: "log" }, ...outputs)) : []),
    ...drawGroup("Notes", el("p", { class: "prose" }, textOf(session, "content"))),
  ]);
}
