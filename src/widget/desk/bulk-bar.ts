import { say } from "../texts/say.ts";
import { ARM_AFTER_MS } from "../approval/form.ts";
import type { ApprovalInfo } from "../approval/info.ts";
import { findRefusal } from "../approval/labels.ts";
import type { BulkResult, QueueApi } from "../approval/queue-api.ts";
import { el, setText } from "../dom.ts";

type Verdict = "approve" | "reject";

/** Decides several approvals at once. Contract: sends exactly those that the reader selected. */
export class BulkBar {
  readonly root: HTMLElement;
  readonly #api: QueueApi;
  readonly #onDecided: () => void;
  readonly #count = el("p");
  readonly #reason = el("input", {
    "aria-label": say("Reason for all selected approvals"),
    placeholder: say("Reason"),
  });
  readonly #approve = this.#createButton("approve", say("Approve all"), "primary");
  readonly #reject = this.#createButton("reject", say("Reject all"), "reject");
  readonly #outcome = el("p", { class: "note", role: "status" });
  readonly #bar = el("div", { class: "bulk", hidden: "" });
  #selected: readonly ApprovalInfo[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: QueueApi, onDecided: () => void) {
    this.#api = api;
    this.#onDecided = onDecided;
    this.#bar.append(this.#count, this.#reason, this.#approve, this.#reject);
    this.root = el("div", {}, this.#bar, this.#outcome);
  }

  /** Shows how many are selected. A changed selection disables the buttons for a moment. */
  update(selected: readonly ApprovalInfo[]): void {
    const isSame = joinIds(selected) === joinIds(this.#selected);
    this.#selected = selected;
    this.#bar.hidden = selected.length === 0;
    setText(this.#count, say("{count} selected", { count: selected.length }));
    if (isSame) return;
    this.#disable(true);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#disable(false), ARM_AFTER_MS);
  }

  #createButton(decision: Verdict, label: string, className: string): HTMLButtonElement {
    const button = el("button", { type: "button", class: className }, label);
    button.addEventListener("click", () => void this.#decide(decision));
    return button;
  }

  #disable(isDisabled: boolean): void {
    this.#approve.disabled = isDisabled;
    this.#reject.disabled = isDisabled;
  }

  async #decide(decision: Verdict): Promise<void> {
    this.#disable(true);
    const reason = this.#reason.value.trim();
    const decisions = this.#selected.map(({ approvalId }) =>
      reason === "" ? { approvalId, decision } : { approvalId, decision, reason },
    );
    const answer = await this.#api.decideMany(decisions);
    setText(this.#outcome, answer.ok ? formatResults(answer.value) : answer.failure.message);
    if (answer.ok) this.#reason.value = "";
    this.#disable(false);
    this.#onDecided();
  }
}

function joinIds(approvals: readonly ApprovalInfo[]): string {
  return approvals.map(({ approvalId }) => approvalId).join();
}

function formatResults(results: readonly BulkResult[]): string {
  const failed = results.filter(({ code }) => code !== undefined);
  const decided = say("{count} decided.", { count: results.length - failed.length });
  if (failed.length === 0) return decided;
  const reasons = [...new Set(failed.map(({ code = "" }) => explain(code)))];
  const open = { count: failed.length, why: reasons.join(" ") };
  return `${decided} ${say("{count} not decided: {why}", open)}`;
}

function explain(code: string): string {
  const gone = say("Somebody decided it first, or its time was over.");
  if (code === "approval_closed" || code === "approval_not_found") return gone;
  return findRefusal(code) ?? `${code.replaceAll("_", " ")}.`;
}
