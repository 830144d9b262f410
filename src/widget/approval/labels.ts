import { say, type Text } from "../texts/say.ts";
import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { ApprovalStatus, SupersedeReason } from "../../protocol/approval/record.ts";
import type { ApprovalInfo } from "./info.ts";

/** Texts about an approval. */

const RISKS: { readonly [Class in SideEffectClass]: Text } = {
  READ_ONLY: "Read only",
  EPHEMERAL_WRITE: "Temporary change",
  LOW_RISK_INTERNAL: "Low risk",
  MEDIUM_RISK_WRITE: "Medium risk",
  HIGH_RISK_EXTERNAL: "High risk",
  CRITICAL_MUTATION: "Critical",
};

/** Returns the label of a risk class. An unknown class is returned as it is. */
export function formatRisk(riskClass: string): string {
  return Object.hasOwn(RISKS, riskClass) ? say(RISKS[riskClass as SideEffectClass]) : riskClass;
}

/** Tells how many approvals each rule needs, from whom, and how many there are. */
export function formatRequirement({ asks, requirements, ...approval }: ApprovalInfo): string {
  const requestedBy = formatActor(approval.requestedBy);
  if (asks === "answer") return say("Needs an answer from {name}.", { name: requestedBy });
  const parts = requirements.map((rule) => {
    const { required, approvals } = rule;
    const count =
      required > 1 ? say("{approvals} of {required} so far", { approvals, required }) : "";
    return { what: formatRule(rule, requestedBy), count, isMet: approvals >= required };
  });
  const [first] = parts;
  if (first && parts.length === 1) {
    const raise = asks === "raise" ? say(". It approves no call") : "";
    return `${say("Needs {what}", { what: first.what })}${raise}.${first.count && ` ${first.count}.`}`;
  }
  const all = parts.map(
    ({ what, count, isMet }) => `${what}: ${count || say(isMet ? "given" : "waiting")}`,
  );
  return say("Needs {all}. A person counts for one of them.", { all: all.join(say("; and ")) });
}

/** Names a person without the kind of actor; another actor is named whole. */
function formatActor(actorId: string): string {
  return actorId.replace(/^user:/, "");
}

function formatRule(rule: ApprovalInfo["requirements"][number], requestedBy: string): string {
  const { required, policy, roles, withinLimit } = rule;
  const many = required === 1 ? say("1 approval") : say("{required} approvals", { required });
  const from = roles.length > 0 ? say(" from role {roles}", { roles: formatRoles(roles) }) : "";
  const only = rule.onlyRequester ? say(" from {name}", { name: requestedBy }) : "";
  const except = rule.excludesRequester ? say(", but not from {name}", { name: requestedBy }) : "";
  const limit = withinLimit
    ? say(", within the limit of role {roles}", { roles: formatRoles(withinLimit) })
    : "";
  const named = rule.approverIsNot
    ? say(", but not from a person in {fields}", { fields: rule.approverIsNot.join(say(" or ")) })
    : "";
  const under = policy ? `, ${say(POLICIES[policy])}` : "";
  return `${many}${from}${only}${except}${named}${limit}${under}`;
}

const POLICIES = {
  pinned: "by the policy that the run began with",
  current: "by the current policy",
} as const;

function formatRoles(roles: readonly string[]): string {
  return roles.length > 0 ? roles.join(say(" or ")) : say("nobody");
}

const CHANGED: { readonly [Reason in SupersedeReason]: Text } = {
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
      return say("Approved. The call passes every check again, and then runs once.");
    case "answered":
      return say("Answered. The call passes every check again, with the answer.");
    case "rejected":
      return say("Rejected. The tool does not run.");
    case "expired":
      return say("Nobody decided in time. The tool does not run.");
    case "superseded":
      return say("{why}, so the call needs a new approval.", {
        why: say(CHANGED[supersededBecause ?? "arguments_edited"]),
      });
    case "withdrawn":
      return withdrawnBecause
        ? say("Closed by itself, because the call cannot succeed any more: {why}", {
            why: withdrawnBecause,
          })
        : say("The run no longer needs this call. The tool does not run.");
  }
}

const STATUSES: { readonly [Status in ApprovalStatus]: Text | "" } = {
  pending: "",
  approved: "Approved",
  answered: "Answered",
  rejected: "Rejected",
  expired: "Expired",
  superseded: "Replaced",
  withdrawn: "Withdrawn",
};

/** Names how an approval ended; empty while it is pending. */
export function formatStatus(status: ApprovalStatus): string {
  const text = STATUSES[status];
  return text && say(text);
}

const REFUSALS: Readonly<Record<string, Text | "">> = {
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
  const text = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  return text ? say(text) : text;
}

/** Tells the reader's own vote, or why they may not decide; empty when the buttons are enough. */
export function formatStanding({ mayDecide, mayNot, said }: ApprovalInfo): string {
  if (mayDecide === false) return formatRefusal(mayNot);
  return said === "approve"
    ? say("You have approved this. You can still reject it until the decision is complete.")
    : "";
}

function formatRefusal(code = ""): string {
  const detail = code === "" ? "" : ` (${code.replaceAll("_", " ")})`;
  return findRefusal(code) ?? say("You cannot decide this approval{detail}.", { detail });
}

/** Formats the time that is left; empty when the time is up. */
export function formatTimeLeft(leftMs: number): string {
  if (!(leftMs > 0)) return "";
  const seconds = Math.ceil(leftMs / 1_000);
  if (seconds < 120) return say("{seconds} seconds left", { seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return say("{minutes} minutes left", { minutes });
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? say("{hours} hours left", { hours })
    : say("{days} days left", { days: Math.floor(hours / 24) });
}
