import { say } from "../texts/say.ts";
import { ApprovalForm } from "./form.ts";
import type { ApprovalInfo } from "./info.ts";
import type { ApprovalsApi } from "./api.ts";
import { createCardFace } from "./card-face.ts";
import { formatEnd, formatStanding } from "./labels.ts";
import { setText } from "../dom.ts";
import { ApprovalTracker } from "./tracker.ts";

export interface ApprovalCardPorts {
  readonly api: ApprovalsApi;
  /** True when a stream reports news of the approval; see `update`. */
  readonly isStreamed: boolean;
  /** Called with each state that the card read from the server, once it is shown. */
  readonly onChange?: (approval: ApprovalInfo) => void;
}

let cards = 0;

/**
 * One approval: what the call would do, who has voted, and what the reader can decide. The card is
 * a dialog beside others on the page. It takes no focus, so a reader who types is not interrupted.
 */
export class ApprovalCard {
  readonly root: HTMLElement;
  readonly #face = createCardFace(`approval-card-${++cards}`);
  readonly #form: ApprovalForm;
  readonly #tracker: ApprovalTracker;
  #shown = "";

  constructor({ api, isStreamed, onChange }: ApprovalCardPorts, first: ApprovalInfo) {
    this.root = this.#face.root;
    this.#form = new ApprovalForm((decision) => {
      void this.#tracker.decide(decision).then(() => this.#keepFocus());
    });
    const draw = () => this.#draw();
    this.#tracker = new ApprovalTracker(
      {
        api,
        needsReads: () => !isStreamed && isSeen(this.root),
        draw,
        onChange: (approval) => onChange?.(approval),
        onFailure: (failure) => this.#form.showFailure(failure),
      },
      first,
    );
    this.root.append(this.#form.root, this.#face.outcome);
    this.#face.onTick(() => {
      draw();
      this.#tracker.tick();
    });
    draw();
    void this.#tracker.read();
  }

  /** Accepts news from an event or a list. */
  update(news: ApprovalInfo): void {
    this.#tracker.update(news);
  }

  #draw(): void {
    const { approval, isSending, message } = this.#tracker;
    const { approvalId, status, approvals, mayDecide, mayNot, lines, said } = approval;
    const isOpen = status === "pending" && Date.parse(approval.expiresAt) > Date.now();
    const isForReader = isOpen && (mayDecide === true || mayNot === "own_request");
    const state = JSON.stringify([approvalId, status, approvals, mayDecide, said, lines.length]);
    this.#form.update(approval, { isNew: state !== this.#shown, isSending });
    this.#shown = state;
    this.#face.draw(approval);
    this.#form.root.hidden = !isForReader;
    const standing = isOpen ? formatStanding(approval) : "";
    const end = status === "pending" && !isOpen ? say("Time is up.") : formatEnd(approval);
    setText(this.#face.outcome, [end || standing, message].filter(Boolean).join(" "));
  }

  /** The decision hides the buttons, so the focus moves from the pressed button to the outcome. */
  #keepFocus(): void {
    const active = activeElementOf(this.root);
    const isLost = active === null || active === document.body || this.#form.root.contains(active);
    if (this.#form.root.hidden && isLost) this.#face.outcome.focus();
  }
}

function isSeen(element: Element): boolean {
  return document.visibilityState === "visible" && element.checkVisibility();
}

function activeElementOf(element: HTMLElement): Element | null {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}
