import { say } from "../../texts/say.ts";
import type { ApprovalsApi } from "../../approval/api.ts";
import { el, RELOAD_ICON } from "../../dom.ts";
import { type Exchange, isActive } from "../exchange/exchange.ts";
import { joinText } from "../../markdown/growing-text.ts";
import { UndoDesk } from "../undo/undo-desk.ts";
import type { ChatTools, ChatToolsPorts, OpenChat } from "./chat-tools.ts";
import type { ChatsApi } from "./chats-api.ts";
import { createCopyButton } from "./copy-button.ts";
import { createEditForm } from "./edit-form.ts";
import { createFeedback } from "./feedback-form.ts";
import { createIconButton, PENCIL } from "./icon-button.ts";
import { createVersions } from "./versions.ts";

export interface TurnToolsPorts extends ChatToolsPorts, Pick<ChatTools, "createCard"> {
  readonly approvals: ApprovalsApi;
  readonly chats: ChatsApi;
  readonly conversation: OpenChat;
  /** The view of the turn. */
  readonly root: HTMLElement;
}

/**
 * What the reader can do with one turn: copy, edit and ask it again, leaf through its versions,
 * rate the answer, and undo its calls.
 */
export class TurnTools {
  readonly #ports: TurnToolsPorts;
  readonly #asked = el("div", { class: "turn-tools asked" });
  readonly #answered = el("div", { class: "turn-tools" });
  readonly #again = createIconButton("turn-tool", say("Answer again"), RELOAD_ICON);
  readonly #edit = createIconButton("turn-tool", say("Edit"), PENCIL);
  readonly #copyQuestion = createCopyButton(
    say("Copy question"),
    () => this.#shown?.question ?? "",
  );
  readonly #copyAnswer = createCopyButton(say("Copy answer"), () => textOf(this.#shown));
  readonly #versions: ReturnType<typeof createVersions>;
  readonly #feedback: ReturnType<typeof createFeedback>;
  #desk: UndoDesk | undefined;
  #shown: Exchange | undefined;
  #drawnFrom: readonly unknown[] = [];

  constructor(ports: TurnToolsPorts) {
    this.#ports = ports;
    const { conversation, root, chats } = ports;
    this.#versions = createVersions(conversation);
    this.#feedback = createFeedback({ chats, conversation });
    this.#again.addEventListener("click", () => this.#branch(this.#shown?.question ?? ""));
    this.#edit.addEventListener("click", () => this.#openForm());
    this.#asked.append(this.#copyQuestion, this.#edit);
    const buttons = [this.#copyAnswer, this.#again, this.#feedback.buttons];
    this.#answered.append(this.#versions.root, ...buttons, this.#feedback.root);
    // Beside the question, so that nothing moves when the tools arrive.
    root.querySelector(".question")?.append(this.#asked);
    root.querySelector(".answer")?.append(this.#answered);
  }

  /** Draws the tools for a turn as it is now. */
  update(exchange: Exchange): void {
    const { conversation } = this.#ports;
    const { nodes, earlier } = conversation.list;
    const from = [exchange, conversation.isBusy, nodes.length, earlier];
    // Each frame of an answer draws all turns.
    if (from.every((value, at) => value === this.#drawnFrom[at])) return;
    this.#drawnFrom = from;
    this.#shown = exchange;
    const isOver = !isActive(exchange) && exchange.answer.done !== undefined;
    const isFixed = exchange.isFixed === true || exchange.question === "";
    this.#edit.hidden = isFixed;
    this.#again.hidden = isFixed || !isOver;
    this.#edit.disabled = conversation.isBusy;
    this.#again.disabled = conversation.isBusy;
    this.#copyAnswer.hidden = !isOver || textOf(exchange) === "";
    this.#versions.update(exchange);
    this.#feedback.update(exchange, isOver);
    if (isOver) this.#openDesk(exchange);
  }

  /** Asks beside the turn. The view goes, so the focus goes to the log. */
  #branch(question: string): void {
    if (!this.#shown) return;
    this.#ports.root.closest<HTMLElement>("[role=log]")?.focus({ preventScroll: true });
    this.#ports.conversation.branch(this.#shown, question);
  }

  #openForm(): void {
    const bubble = this.#ports.root.querySelector<HTMLElement>(".question");
    if (!bubble || !this.#shown) return;
    const form = createEditForm(this.#shown.question, {
      onSend: (text) => {
        if (this.#ports.conversation.isBusy) return;
        this.#branch(text);
      },
      onClose: () => {
        form.remove();
        bubble.classList.remove("edited");
        this.#edit.focus();
      },
    });
    bubble.classList.add("edited");
    bubble.before(form);
    form.querySelector("textarea")?.focus();
  }

  /** Adds to each call of the run whether it can be undone. */
  #openDesk({ runId }: Exchange): void {
    if (this.#desk || runId === undefined) return;
    const { undo, approvals, createCard, root } = this.#ports;
    this.#desk = new UndoDesk({ api: undo, approvals, createCard });
    for (const card of root.querySelectorAll<HTMLElement>(".tool")) {
      // A saga is taken back as a whole, so its steps offer no Undo of their own.
      if (card.matches(".tool .tool")) continue;
      const { call = "", name = "" } = card.dataset;
      card.append(this.#desk.createView(call, name).root);
    }
    this.#desk.open(runId);
  }
}

/** The words of an answer, as the model wrote them. */
function textOf(exchange: Exchange | undefined): string {
  const parts = exchange?.answer.parts ?? [];
  const texts = parts.map((part) => (part.kind === "text" ? joinText(part.text) : ""));
  return texts.filter(Boolean).join("\n\n");
}
