import type { DecisionAnswer } from "../../capabilities/run.ts";
import type { ApprovalDecision } from "../../protocol/approval/decision.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ApprovalRequirement } from "../../protocol/approval/requirement.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";

/** A decision that somebody wanted to make. */
interface Wanted {
  readonly record: ApprovalRecord;
  readonly decision: ApprovalDecision["decision"];
  readonly who: ActorId;
}

/** Says why a decision does not count; undefined when it does. */
export function explainDecision(
  answer: DecisionAnswer,
  { record, decision, who }: Wanted,
): string | undefined {
  const { toolId } = record;
  const takes = `It takes ${record.requirements.map(describeRequirement).join(", and ")}.`;
  switch (answer.kind) {
    case "decided":
      return undefined;
    case "not_allowed":
      return `${who} may not ${decision} ${toolId}: ${answer.why}. ${takes}`;
    case "unknown_approval":
      return `${who} may not see the approval of ${toolId}. ${takes}`;
    case "arguments_refused": {
      const errors = answer.errors.map(({ field, message }) => `${field ?? "call"}: ${message}`);
      return `The arguments of ${toolId} were refused. ${errors.join("; ")}`;
    }
    case "closed":
      return `The approval of ${toolId} is ${answer.approval.status}.`;
    case "policy_unavailable":
    case "tools_unavailable":
    case "gone":
    case "unknown":
      return `The decision about ${toolId} was not stored: ${answer.kind}.`;
  }
}

function describeRequirement(requirement: ApprovalRequirement): string {
  const { pattern, required, roles, onlyRequester, excludesRequester } = requirement;
  if (onlyRequester) return `the requester (${pattern})`;
  const people = required === 1 ? "one person" : `${required} people`;
  const role = roles.length > 0 ? ` with the role ${roles.join(" or ")}` : "";
  return `${people}${role}${excludesRequester ? ", not the requester" : ""} (${pattern})`;
}
