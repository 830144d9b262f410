import type { DecisionAnswer } from "../../capabilities/run.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";

/** Tells why an answer refuses a vote; undefined for a vote that counts, or may be sent again. */
export function whyRefused(answer: DecisionAnswer): string | undefined {
  switch (answer.kind) {
    case "closed":
      return "approval_closed";
    case "not_allowed":
      return answer.why;
    case "unknown_approval":
      return "not_an_approver";
    case "decided":
    case "arguments_refused":
    case "policy_unavailable":
    case "tools_unavailable":
    case "unknown":
    case "gone":
      return undefined;
  }
}

/** Classes of what the gates of the policy refuse. */
const BY_POLICY: ReadonlySet<string> = new Set<ToolFailure["taxonomyClass"]>([
  "POLICY_VIOLATION",
  "PERMISSION_DENIED",
  "BUDGET_EXHAUSTED",
  "RATE_LIMITED",
]);

/** Answers a decision whose arguments the review refused. */
export function refuseArguments({ taxonomyClass, errors }: ToolFailure): DecisionAnswer {
  if (taxonomyClass === "DEPENDENCY_UNAVAILABLE") return refuseUnread({ errors });
  const isByPolicy = BY_POLICY.has(taxonomyClass);
  return { kind: "arguments_refused", errors, ...(isByPolicy && { isByPolicy }) };
}

/** Refuses a decision because a policy or the tools cannot be read now. */
export function refuseUnread({ errors }: Pick<ToolFailure, "errors">): DecisionAnswer {
  const isTools = errors[0]?.code === "tools_unavailable";
  return { kind: isTools ? "tools_unavailable" : "policy_unavailable" };
}
