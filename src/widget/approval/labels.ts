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

/** Tells how many approvals each rule needs, from whom, and how many there are. */
export function formatRequirement({ asks, requirements, ...approval }: ApprovalInfo): string {
  const requestedBy = formatActor(approval.requestedBy);
  if (asks === "answer") return `Needs an answer from ${requestedBy}.`;
  const parts = requirements.map((rule) => {
    const { required, approvals } = rule;
    const count = required > 1 ? `${approvals} of ${required} so far` : "";
    return { what: formatRule(rule, requestedBy), count, isMet: approvals >= required };
  });
  const [first] = parts;
  if (first && parts.length === 1) {
    const raise = asks === "raise" ? ". It approves no call" : "";
    return `Needs ${first.what}${raise}.${first.count && ` ${first.count}.`}`;
  }
  const all = parts.map(
    ({ what, count, isMet }) => `${what}: ${count || (isMet ? "given" : "waiting")}`,
  );
  return `Needs ${all.join("; and ")}. A person counts for one of them.`;
}

/** Names a person without the kind of actor; another actor is named whole. */
function formatActor(actorId: string): string {
  return actorId.replace(/^user:/, "");
}

function formatRule(rule: ApprovalInfo["requirements"][number], requestedBy: string): string {
  const { required, policy, roles, withinLimit } = rule;
  const many = required === 1 ? "1 approval" : `${required} approvals`;
  const from = roles.length > 0 ? ` from role ${formatRoles(roles)}` : "";
  const only = rule.onlyRequester ? ` from ${requestedBy}` : "";
  const except = rule.excludesRequester ? `, but not from ${requestedBy}` : "";
  const limit = withinLimit ? `, within the limit of role ${formatRoles(withinLimit)}` : "";
  const named = rule.approverIsNot
    ? `, but not from a person in ${rule.approverIsNot.join(" or ")}`
    : "";
  const under = policy ? `, ${POLICIES[policy]}` : "";
  return `${many}${from}${only}${except}${named}${limit}${under}`;
}

const POLICIES = {
  pinned: "by the policy that the run began with",
  current: "by the current policy",
} as const;

function formatRoles(roles: readonly string[]): string {
  return roles.length > 0 ? roles.join(" or ") : "nobody";
}

const CHANGED: { readonly [Reason in SupersedeReason]: string } = {
  arguments_edited: "The arguments were changed",
  terms_changed: "The rules for this call changed",
  consent_ended: "Asked again: the consent ended",
  shown_changed: "What people were shown has changed",
};

/** Tells how an approval ended; empty while it is pending. */
export function formatEnd({ status, supersededBecause, withdrawnBecause }: ApprovalInfo): string {
  switch (status) {
    case "pending":
      return "";
    case "approved":
      return "Approved. The call passes every check again, and then runs once.";
    case "answered":
      return "Answered. The call passes every check again, with the answer.";
    case "rejected":
      return "Rejected. The tool does not run.";
    case "expired":
      return "Nobody decided in time. The tool does not run.";
    case "superseded":
      return `${CHANGED[supersededBecause ?? "arguments_edited"]}, so the call needs a new approval.`;
    case "withdrawn":
      return withdrawnBecause
        ? `Closed by itself, because the call cannot succeed any more: ${withdrawnBecause}`
        : "The run no longer needs this call. The tool does not run.";
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  own_request: "You requested this call, so another person must approve it.",
  not_the_requester: "Only the person that this call acts for can decide this.",
  role_missing: "You do not have a role that can decide this approval.",
  named_in_call: "This call names you, so another person must approve it.",
  over_limit: "This call moves more money than your roles may approve.",
  not_needed: "Enough people have approved for every rule that you count for.",
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
