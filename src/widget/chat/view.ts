import type { ApprovalsApi } from "../approval/api.ts";
import { createComposer } from "./composer.ts";
import type { Conversation, Turn } from "./conversation.ts";
import { el, icon, setText } from "../dom.ts";
import { keepAtEnd } from "./scroll-keeper.ts";
import { createTokenForm } from "../token-form.ts";
import {
  announcementOf,
  createTurnView,
  type TurnView,
  waitsForApproval,
  waitsForOperator,
} from "./turn-view.ts";

const EXAMPLES = [
  "What time is it in Tokyo?",
  "Time in Tokyo and in New York",
  "What is 12.5% of 480?",
  "Plan a call with Tokyo",
  "Tell me a long story",
];

export interface ChatView {
  readonly root: HTMLElement;
  /** Draws the conversation as it is now. */
  render(): void;
  focus(): void;
}

/** What a chat lets its reader do beside the conversation. */
export interface ChatViewPorts {
  readonly approvals: ApprovalsApi;
  readonly onToken: (token: string) => void;
}

/** Shows a conversation and turns what the reader does into calls on it. */
export function createChatView(
  conversation: Conversation,
  { approvals, onToken }: ChatViewPorts,
): ChatView {
  let wasRefused = false;
  const header = createHeader(() => {
    conversation.clear();
    composer.focus();
  });
  const composer = createComposer({ onSend: say, onStop: () => conversation.stop() });
  const tokenForm = createTokenForm((token) => {
    wasRefused = true;
    onToken(token);
    conversation.unlock();
    composer.focus();
  });
  const empty = createEmptyState(ask);
  const log = createLog(conversation, { empty, approvals });
  const notice = el("p", { class: "notice", role: "alert", hidden: "" });
  const announcer = el("p", { class: "sr", role: "status" });
  const foot = el("div", { class: "foot" }, log.jumpButton, notice, tokenForm.root, composer.root);
  const root = el("div", { class: "chat" }, header.root, log.root, foot, announcer);

  function ask(question: string): boolean {
    if (conversation.isBusy) return false;
    conversation.ask(question);
    log.jump();
    return true;
  }

  /** While an answer is on its way the reader speaks to it, else about something new. */
  async function say(text: string): Promise<boolean> {
    return conversation.isBusy ? conversation.steer(text) : ask(text);
  }

  return {
    root,
    focus: () => composer.focus(),
    render() {
      const { turns, isBusy, isStopping } = conversation;
      const isLocked = turns.some((turn) => turn.link === "token_needed");
      if (turns.some((turn) => turn.link === "open" || turn.link === "done")) wasRefused = false;
      header.update(turns);
      empty.hidden = turns.length > 0;
      log.render();
      setText(notice, conversation.notice);
      notice.hidden = conversation.notice === "";
      composer.root.hidden = isLocked;
      composer.update({ isBusy, isStopping });
      tokenForm.update({ isNeeded: isLocked, wasRefused });
      const last = turns.at(-1);
      if (last) setText(announcer, describeAloud(last));
    },
  };
}

const AWAITED = "It is not known whether a tool did what it was asked. An operator has been asked.";

const ASKED = "A tool waits for approval. What it would do is shown in the conversation.";

/** Token by token nobody could listen to it: only a beginning, a loss and the whole answer are said. */
function describeAloud(turn: Turn): string {
  switch (turn.link) {
    case "opening":
    case "open":
      if (waitsForApproval(turn.answer)) return ASKED;
      return waitsForOperator(turn.answer) ? AWAITED : "Answering…";
    case "reconnecting":
      return "Connection lost. Reconnecting…";
    case "done":
      return announcementOf(turn);
    case "token_needed":
    case "broken":
      return "";
  }
}

function createHeader(onNew: () => void) {
  const title = el("h1", {}, "New conversation");
  const model = el("p", { class: "model" });
  const button = el("button", { type: "button", class: "new" }, icon("M10 4v12M4 10h12"));
  button.append(el("span", {}, "New chat"));
  button.addEventListener("click", onNew);
  return {
    root: el("header", {}, el("div", {}, title, model), button),
    update(turns: readonly Turn[]) {
      setText(title, turns.find((turn) => turn.answer.title)?.answer.title ?? "New conversation");
      setText(model, turns.findLast((turn) => turn.answer.model)?.answer.model ?? "");
      button.hidden = turns.length === 0;
    },
  };
}

function createEmptyState(onPick: (question: string) => boolean): HTMLElement {
  const examples = EXAMPLES.map((example) => {
    const button = el("button", { type: "button" }, example);
    button.addEventListener("click", () => onPick(example));
    return el("li", {}, button);
  });
  const heading = el("h2", {}, "What would you like to know?");
  const lead = el("p", {}, "Answers come with the tools that were used for them.");
  return el(
    "div",
    { class: "empty" },
    heading,
    lead,
    el("ul", { "aria-label": "Examples" }, ...examples),
  );
}

interface LogPorts {
  /** Shown while there is nothing else. */
  readonly empty: HTMLElement;
  readonly approvals: ApprovalsApi;
}

function createLog(conversation: Conversation, { empty, approvals }: LogPorts) {
  const list = el("div", { class: "turns" }, empty);
  // The announcer speaks for it; a live log would read out every piece of a streaming answer.
  const root = el("main", { class: "log", role: "log", "aria-label": "Conversation" }, list);
  root.setAttribute("aria-live", "off");
  root.tabIndex = 0;
  const keeper = keepAtEnd(root);
  const views = new Map<number, TurnView>();
  return {
    root,
    jumpButton: keeper.button,
    jump: () => keeper.jump(),
    render() {
      const { turns } = conversation;
      for (const [key, view] of views) {
        if (turns.some((turn) => turn.key === key)) continue;
        view.root.remove();
        views.delete(key);
      }
      for (const turn of turns) {
        const view = views.get(turn.key) ?? addTurn(turn);
        view.update(turn);
      }
      keeper.follow();
    },
  };

  function addTurn({ key, question }: Turn): TurnView {
    const view = createTurnView(question, {
      approvals: { api: approvals, onChange: () => keeper.follow() },
      onRetry: () => conversation.retry(key),
    });
    views.set(key, view);
    list.append(view.root);
    return view;
  }
}
