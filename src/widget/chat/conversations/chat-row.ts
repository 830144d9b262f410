import { formatTime, say, type Text } from "../../texts/say.ts";
import { createButton, el, setText } from "../../dom.ts";
import { createIconButton, PENCIL } from "./icon-button.ts";
import type { ChatsApi, ListedChat } from "./chats-api.ts";

/** Draws one chat of the list, which the reader can open, rename and delete. */
export interface ChatRow {
  readonly root: HTMLElement;
  /** The button that opens the chat. */
  readonly button: HTMLButtonElement;
}

export interface ChatRowPorts {
  readonly api: ChatsApi;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onRename: (title: string) => void;
  /** Gets how many turns the server still deletes. */
  readonly onDelete: (turnsLeft: number) => void;
}

const UNTITLED = "Untitled chat";
const STATUS: Readonly<Record<string, Text>> = {
  running: "Answering…",
  waiting: "Waiting for people",
};
const CONSEQUENCES =
  "This deletes all messages of the chat, also those of its other versions, and its files, on every device. It cannot be undone. The audit log keeps its records of tool calls, and what tools changed elsewhere stays.";
const BIN = "M4.5 6h11M8 6V4h4v2M6 6l.7 10h6.6L14 6";

function statusOf(status: string): string {
  const text = Object.hasOwn(STATUS, status) ? STATUS[status] : undefined;
  return text ? say(text) : "";
}

export function createChatRow(
  { id, title = "", status, updatedAt }: ListedChat,
  ports: ChatRowPorts,
): ChatRow {
  const name = title || say(UNTITLED);
  const begunMs = Date.parse(updatedAt);
  const facts = [Number.isFinite(begunMs) ? formatTime(begunMs) : "", statusOf(status)];
  const button = createButton("chat-open", "");
  // The direction of a title stays within it.
  const label = el("bdi", { class: "chat-title" }, name);
  button.append(label, el("span", { class: "chat-facts" }, facts.filter(Boolean).join(" · ")));
  if (ports.isOpen) button.setAttribute("aria-current", "true");
  button.addEventListener("click", ports.onOpen);
  const rename = createIconButton("chat-tool", say("Rename: {name}", { name }), PENCIL);
  const remove = createIconButton("chat-tool", say("Delete: {name}", { name }), BIN);
  rename.addEventListener("click", showForm);
  remove.addEventListener("click", showQuestion);
  const root = el("li", {}, button, rename, remove);
  return { root, button };

  function showForm(): void {
    const input = el("input", { "aria-label": say("Title"), maxlength: "120", value: title });
    const save = el("button", { class: "primary" }, say("Save"));
    const { form, problem } = createDialog(rename, input, save);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = input.value.trim();
      if (given === "") return;
      void give(given);
    });
    const give = async (given: string): Promise<void> => {
      const renamed = await ports.api.rename(id, given);
      if (renamed.ok) ports.onRename(renamed.value);
      else setText(problem, renamed.failure.message);
    };
    input.select();
  }

  function showQuestion(): void {
    const [before = "", after = ""] = say("Delete {name}?").split("{name}");
    const heading = el("p", {}, before, el("bdi", { class: "chat-title" }, name), after);
    const text = el("div", {}, heading, el("p", {}, say(CONSEQUENCES)));
    const confirm = el("button", { class: "danger" }, say("Delete this chat"));
    const { form, problem } = createDialog(remove, text, confirm);
    form.setAttribute("role", "group");
    form.setAttribute("aria-label", say("Delete {name}?", { name }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // A disabled button would lose the focus, so a second click is ignored instead.
      if (!isDeleting) void erase();
    });
    let isDeleting = false;
    const erase = async (): Promise<void> => {
      isDeleting = true;
      const removed = await ports.api.remove(id);
      isDeleting = false;
      if (removed.ok) ports.onDelete(removed.value);
      else setText(problem, removed.failure.message);
    };
    // Enter that was meant for the button before deletes nothing.
    form.querySelector<HTMLElement>(".chat-cancel")?.focus();
  }

  /** Shows a form in place of the row, until it is cancelled. The focus then returns. */
  function createDialog(opener: HTMLElement, first: HTMLElement, submit: HTMLButtonElement) {
    const cancel = createButton("chat-cancel", say("Cancel"));
    const problem = el("p", { class: "error", role: "alert" });
    const actions = el("div", { class: "chat-actions" }, submit, cancel);
    const form = el("form", { class: "chat-form" }, first, actions, problem);
    const close = () => {
      root.replaceChildren(button, rename, remove);
      opener.focus();
    };
    cancel.addEventListener("click", close);
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      close();
    });
    root.replaceChildren(form);
    return { form, problem };
  }
}
