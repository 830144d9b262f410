import { say, type Text } from "../../texts/say.ts";
import type { ApprovalCard } from "../../approval/card.ts";
import type { ApprovalInfo } from "../../approval/info.ts";
import { el, setText } from "../../dom.ts";
import type { UndoCall, UndoStatus } from "./undo-api.ts";

export interface UndoViewPorts {
  readonly createCard: (approval: ApprovalInfo) => ApprovalCard;
  readonly onUndo: (invocationId: string) => void;
}

/**
 * Undo on the card of one call: after what the call was made, the button, how the undo stands, and
 * its approval. It is hidden unless the reader may undo the call, or somebody did or tried.
 */
export class UndoView {
  readonly root = el("div", { class: "undo", hidden: "" });
  readonly #ports: UndoViewPorts;
  readonly #button: HTMLButtonElement;
  readonly #origin = el("p");
  readonly #status = el("p", { role: "status", tabindex: "-1" });
  readonly #approval = el("div", { class: "tool-approval", hidden: "" });
  #card: { readonly approvalId: string; readonly card: ApprovalCard } | undefined;
  #invocationId = "";
  #last: UndoStatus | undefined;

  constructor(name: string, ports: UndoViewPorts) {
    this.#ports = ports;
    this.#button = el(
      "button",
      { type: "button", "aria-label": say("Undo: {name}", { name }) },
      say("Undo"),
    );
    this.#button.addEventListener("click", () => this.#ask());
    this.root.append(this.#origin, this.#button, this.#status, this.#approval);
  }

  /** Shows how undoing the call stands. */
  update({ invocationId, undo, after }: UndoCall, approval: ApprovalInfo | undefined): void {
    const status = undo?.status;
    this.#invocationId = invocationId;
    this.root.hidden = status === undefined;
    if (status === undefined) return;
    setText(
      this.#origin,
      after === undefined ? "" : say("Made after reading: {text}", { text: after }),
    );
    const hadFocus = this.#button.matches(":focus");
    this.#button.hidden = status !== "available";
    this.#button.disabled = false;
    const isReleased = status === "available" && this.#last === "running";
    setText(this.#status, sayStatus(isReleased ? RELEASED : approval ? WAITS : TEXTS[status]));
    this.#last = status;
    this.#drawApproval(status === "running" ? approval : undefined);
    if (hadFocus && this.#button.hidden) this.#status.focus();
  }

  /** Says why the undo was refused. The reader may try again. */
  refuse(message: string): void {
    this.#button.disabled = false;
    setText(this.#status, say("It was not undone. {why}", { why: message }));
  }

  #ask(): void {
    // A disabled button would lose the focus, so a second click is ignored instead.
    if (this.#last === "running") return;
    this.#last = "running";
    setText(this.#status, sayStatus(TEXTS.running));
    this.#ports.onUndo(this.#invocationId);
  }

  #drawApproval(approval: ApprovalInfo | undefined): void {
    this.#approval.hidden = approval === undefined;
    if (!approval) return;
    const { approvalId } = approval;
    if (this.#card?.approvalId !== approvalId) {
      const card = this.#ports.createCard(approval);
      this.#card = { approvalId, card };
      this.#approval.replaceChildren(card.root);
    }
    this.#card.card.update(approval);
  }
}

const TEXTS: { readonly [Status in UndoStatus]: Text | "" } = {
  available: "",
  running: "Undo is in progress.",
  undone: "Undone.",
  stale: "It cannot be undone any more: it has changed since.",
  failed: "The undo failed. An operator has to look into it.",
};
const WAITS = "The undo waits for approval.";
const RELEASED = "It was not undone: the undo was refused or stopped. You can try again.";

function sayStatus(text: Text | ""): string {
  return text && say(text);
}
