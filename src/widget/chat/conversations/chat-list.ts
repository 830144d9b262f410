import { say } from "../../texts/say.ts";
import type { OpenChat } from "./chat-tools.ts";
import { CLOSE_ICON, createButton, el, setText } from "../../dom.ts";
import { createIconButton } from "./icon-button.ts";
import { type ChatRow, createChatRow } from "./chat-row.ts";
import type { ListFilter } from "../stream/api.ts";
import type { ChatsApi, ListedChat } from "./chats-api.ts";

export interface ChatListPorts {
  readonly api: ChatsApi;
  /** Which chats are listed; see `GET /v1/conversations`. */
  readonly filter: ListFilter;
  readonly conversation: OpenChat;
  /** The chat that the list covers. */
  readonly chat: HTMLElement;
  /** Gets the focus when the list closes; `isChosen`: with another chat. */
  readonly onClose: (isChosen: boolean) => void;
}

/** The reader may still type. Unit: milliseconds. */
const SEARCH_DELAY_MS = 200;

/** Opens the list of the reader's chats over the chat. Escape closes it. */
export function openChatList({ api, filter, conversation, chat, onClose }: ChatListPorts): void {
  const search = el("input", {
    type: "search",
    "aria-label": say("Search titles"),
    placeholder: say("Search titles…"),
    maxlength: "120",
  });
  const close = createIconButton("chats-close", say("Close the list of chats"), CLOSE_ICON);
  const head = el("div", { class: "chats-head" }, el("h2", {}, say("Chats")), close);
  const status = el("p", { class: "note", role: "status" });
  const list = el("ul", { "aria-label": say("Chats") });
  const more = createButton("", say("Show more"));
  const root = el("section", { class: "chats", role: "dialog", "aria-label": say("Chats") });
  root.append(head, search, status, list, more);
  const veil = el("div", { class: "veil" });
  const behind = [...chat.children];
  let rows: readonly ChatRow[] = [];
  let reading = new AbortController();
  let next: string | undefined;

  for (const element of behind) element.toggleAttribute("inert", true);
  chat.append(veil, root);
  veil.addEventListener("click", () => leave(false));
  close.addEventListener("click", () => leave(false));
  more.addEventListener("click", () => void read(next));
  let typed: ReturnType<typeof setTimeout> | undefined;
  search.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => void read(), SEARCH_DELAY_MS);
  });
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      // The window around the chat stays open.
      event.preventDefault();
      leave(false);
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && move(step)) event.preventDefault();
  });
  search.focus();
  void read();

  function leave(isChosen: boolean): void {
    reading.abort();
    clearTimeout(typed);
    for (const element of behind) element.toggleAttribute("inert", false);
    veil.remove();
    root.remove();
    onClose(isChosen);
  }

  /** Reads the first page of what is searched, or the page at a cursor. */
  async function read(cursor?: string): Promise<void> {
    reading.abort();
    reading = new AbortController();
    const { signal } = reading;
    const title = search.value.trim();
    if (cursor === undefined) setText(status, say("Loading…"));
    const query = { ...filter, ...(title && { title }), ...(cursor && { cursor }) };
    const page = await api.list(query, signal);
    if (signal.aborted) return;
    if (!page.ok) {
      if (page.failure.status === 401) {
        leave(false);
        conversation.loader.requireToken();
      }
      setText(status, page.failure.message);
      return;
    }
    next = page.value.next;
    more.hidden = next === undefined;
    const added = page.value.chats.map(createRow);
    rows = cursor === undefined ? added : [...rows, ...added];
    list.replaceChildren(...rows.map((row) => row.root));
    // The button that was there may be gone.
    if (cursor !== undefined) added[0]?.button.focus();
    setText(status, describe(rows.length, title));
  }

  function createRow(shown: ListedChat): ChatRow {
    const row = createChatRow(shown, {
      api,
      isOpen: shown.id === conversation.list.conversationId,
      onOpen() {
        void conversation.open(shown.id);
        leave(true);
      },
      onRename(title) {
        if (shown.id === conversation.list.conversationId) conversation.rename(title);
        replace(row, createRow({ ...shown, title }));
      },
      onDelete(turnsLeft) {
        if (shown.id === conversation.list.conversationId) void conversation.open();
        replace(row);
        setText(status, say(turnsLeft === 0 ? DELETED : DELETING));
      },
    });
    return row;
  }

  /** Puts another row in a row's place, or none, and keeps the focus there. */
  function replace(row: ChatRow, other?: ChatRow): void {
    const at = rows.indexOf(row);
    rows = other ? rows.with(at, other) : rows.filter((one) => one !== row);
    list.replaceChildren(...rows.map((one) => one.root));
    ((other ?? rows[at] ?? rows.at(-1))?.button ?? search).focus();
  }

  /** Moves the focus between the field and the chats. Returns whether there was a place. */
  function move(step: number): boolean {
    const places = [search, ...rows.map(({ button }) => button)];
    const at = places.findIndex((place) => place.matches(":focus"));
    const place = at === -1 ? undefined : places[at + step];
    place?.focus();
    return place !== undefined;
  }
}

const DELETED = "The chat was deleted.";
const DELETING = "The chat was deleted. The server still removes the last of its answers.";

function describe(count: number, title: string): string {
  if (count > 0) return "";
  return title === "" ? say("There are no chats so far.") : say("No title has these words.");
}
