import { ARM_AFTER_MS } from "./form.ts";
import type { ApprovalInfo } from "./info.ts";
import type { ApprovalsApi, BulkResult } from "./api.ts";
import { el, setText } from "../dom.ts";

export interface BulkBar {
  readonly root: HTMLElement;
  update(selected: readonly ApprovalInfo[]): void;
}

/** Decides several questions at once. Contract: what was selected is what is sent, and each has its own end. */
export function createBulkBar(api: ApprovalsApi, onDecided: () => void): BulkBar {
  const count = el("p");
  const reason = el("input", { "aria-label": "Reason for all of them", placeholder: "Reason" });
  const approve = el("button", { type: "button", class: "primary" }, "Approve all");
  const reject = el("button", { type: "button", class: "reject" }, "Reject all");
  const outcome = el("p", { class: "note", role: "status" });
  const bar = el("div", { class: "bulk", hidden: "" }, count, reason, approve, reject);
  let chosen: readonly ApprovalInfo[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function disable(isDisabled: boolean): void {
    approve.disabled = isDisabled;
    reject.disabled = isDisabled;
  }

  async function decide(decision: "approve" | "reject"): Promise<void> {
    disable(true);
    const said = reason.value.trim();
    const decisions = chosen.map(({ approvalId }) => formatDecision(approvalId, decision, said));
    const answer = await api.decideMany(decisions);
    setText(outcome, answer.ok ? formatResults(answer.value) : answer.failure.message);
    if (answer.ok) reason.value = "";
    disable(false);
    onDecided();
  }

  approve.addEventListener("click", () => void decide("approve"));
  reject.addEventListener("click", () => void decide("reject"));
  return {
    root: el("div", {}, bar, outcome),
    update(selected) {
      const isSame = selected.map(idOf).join() === chosen.map(idOf).join();
      chosen = selected;
      bar.hidden = selected.length === 0;
      setText(count, `${selected.length} selected`);
      if (isSame) return;
      disable(true);
      clearTimeout(timer);
      timer = setTimeout(() => disable(false), ARM_AFTER_MS);
    },
  };
}

function idOf({ approvalId }: ApprovalInfo): string {
  return approvalId;
}

function formatDecision(approvalId: string, decision: "approve" | "reject", reason: string) {
  return reason === "" ? { approvalId, decision } : { approvalId, decision, reason };
}

function formatResults(results: readonly BulkResult[]): string {
  const refused = results.filter(({ code }) => code !== undefined);
  const done = `${results.length - refused.length} decided.`;
  if (refused.length === 0) return done;
  const codes = [...new Set(refused.map(({ code }) => String(code).replaceAll("_", " ")))];
  return `${done} ${refused.length} not: ${codes.join(", ")}.`;
}
