import { failCall } from "../../protocol/outcome/failures.ts";
import type { ApprovalDesk, ApprovalPlaces, PlaceAnswer } from "../../capabilities/approval.ts";
import { personOf, type Principal } from "../../protocol/identity/principal.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { IMPLIED_LIMITS, openApprovalLimitsOf } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** What limiting requests takes of the run. */
export interface LimitPorts {
  readonly approvals: Pick<ApprovalDesk, "countOpen" | "countAsked" | "nextId">;
  readonly places: ApprovalPlaces;
  /** The policy that the run pinned. */
  readonly policy: Pick<ToolPolicy, "budgets">;
  readonly principal: Pick<Principal, "actorId" | "subjectId">;
}

type Refused = ReturnType<typeof failCall>;

/**
 * Refuses a request that exceeds the run's own limits: of open approvals, and of calls about which
 * a model has people asked.
 * Contract: synchronous; asked in the same turn as the request, so parallel calls do not pass a
 * limit together. A request that replaces another one about its call counts once.
 * Fails: BUDGET_EXHAUSTED.
 */
export function refuseMore(
  { approvals, policy }: Pick<LimitPorts, "approvals" | "policy">,
  { number, origin, saga }: Pick<ToolInvocationRecord, "number" | "origin" | "saga">,
): Refused | undefined {
  const {
    maxOpenApprovals = IMPLIED_LIMITS.maxOpenApprovals,
    maxApprovalRequests = IMPLIED_LIMITS.maxApprovalRequests,
  } = policy.budgets;
  if (approvals.countOpen(number) >= maxOpenApprovals) return TOO_MANY;
  // People ask for each of their calls themselves, and a saga that began has to come to its end.
  const isAskedByModel = !origin && !saga;
  const isOver = isAskedByModel && approvals.countAsked(number) >= maxApprovalRequests;
  return isOver ? ASKED_ENOUGH : undefined;
}

/**
 * Takes a place among the open approvals of the person and the tenant, before people are asked.
 * Fails: BUDGET_EXHAUSTED; DEPENDENCY_UNAVAILABLE when the tenant's object does not answer.
 */
export async function takePlace(
  { approvals, places, principal }: LimitPorts,
  number: number,
  policies: readonly Pick<ToolPolicy, "tenantBudgets">[],
): Promise<Refused | undefined> {
  const answer = await places.take({
    approvalId: approvals.nextId(number),
    requester: personOf(principal),
    limits: openApprovalLimitsOf(policies.map(({ tenantBudgets }) => tenantBudgets)),
  });
  return answer === "taken" ? undefined : NO_PLACE[answer];
}

const TOO_MANY = failCall("too_many_approvals");
const ASKED_ENOUGH = failCall("approval_requests_exhausted");
const NO_PLACE: { readonly [Answer in Exclude<PlaceAnswer, "taken">]: Refused } = {
  actor_full: failCall("too_many_approvals_of_actor"),
  tenant_full: failCall("too_many_approvals_of_tenant"),
  unavailable: failCall("approvals_unavailable"),
};
