import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { SupersedeReason } from "../../protocol/approval/record.ts";
import type { ApprovalInfo } from "./info.ts";

/** Texts about an approval. */

const RISKS: { readonly [Class in SideEffectClass]: string } = {
  READ_ONLY: "Read only",
  EPHEMERAL_WRITE: "Temporary change",
  LOW_RISK_INTERNAL: "Low risk",
  MEDIUM_RISK_WRITE: "Medium risk",
  HIGH_RISK_EXTERNAL: "High risk",
  CRITICAL_MUTATION: "Critical",
};

/** Returns the label of a risk class. An unknown class is returned as it is. */
export function formatRisk(riskClass: string): string {
  return Object.hasOwn(RISKS, riskClass) ? RISKS[riskClass as SideEffectClass] : riskClass;
}

/** Tells how many approvals are needed, from which roles, and how many there are. */
export function formatRequirement(approval: ApprovalInfo): string {
  const { required, approvals, roles, excludesRequester, requestedBy } = approval;
  const many = required === 1 ? "Needs 1 approval" : `Needs ${required} approvals`;
  const names = roles.map((role) => role || "nobody").join(" or ");
  const from = roles.length > 0 ? ` from role ${names}` : "";
  const except = excludesRequester ? `, but not from ${requestedBy}` : "";
  const count = required > 1 ? ` ${approvals} of ${required} so far.` : "";
  return `${many}${from}${except}.${count}`;
}

const CHANGED: { readonly [Reason in SupersedeReason]: string } = {
  arguments_edited: "The arguments were changed",
  terms_changed: "The rules for this call changed",
  shown_changed: "What people were shown has changed",
};

/** Tells how an approval ended; empty while it is pending. */
export function formatEnd({ status, supersededBecause }: ApprovalInfo): string {
  switch (status) {
    case "pending":
      return "";
    case "approved":
      return "Approved. The call passes every check again, and then runs once.";
    case "rejected":
      return "Rejected. The tool does not run.";
    case "expired":
      return "Nobody decided in time. The tool does not run.";
    case "superseded":
      return `${CHANGED[supersededBecause ?? "arguments_edited"]}, so the call needs a new approval.`;
    case "withdrawn":
      return "The run no longer needs this call. The tool does not run.";
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  own_request: "You requested this call, so another person must approve it.",
  not_the_requester: "Only the person that this call acts for can approve it.",
  role_missing: "You do not have a role that can decide this approval.",
  reason_missing: "Enter a reason.",
  not_a_person: "Only a person can decide. Sign in as a person.",
  not_bulk: "This approval cannot be decided together with others. Open it to decide.",
  insufficient_scope: "Your token cannot decide approvals. It needs the scope approvals:decide.",
  closed: "",
};

/** Returns why the reader may not decide; undefined for an unknown code. */
export function findRefusal(code: string): string | undefined {
  return Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
}

/** Tells the reader's own vote, or why they may not decide; empty when the buttons are enough. */
export function formatStanding({ mayDecide, mayNot, said }: ApprovalInfo): string {
  if (mayDecide === false) return formatRefusal(mayNot);
  return said === "approve"
    ? "You have approved this. You can still reject it until the decision is complete."
    : "";
}

function formatRefusal(code = ""): string {
  const detail = code === "" ? "" : ` (${code.replaceAll("_", " ")})`;
  return findRefusal(code) ?? `You cannot decide this approval${detail}.`;
}

/** Formats the time that is left; empty when the time is up. */
export function formatTimeLeft(leftMs: number): string {
  if (!(leftMs > 0)) return "";
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 120) return `${seconds} seconds left`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} minutes left`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours left` : `${Math.floor(hours / 24)} days left`;
}
