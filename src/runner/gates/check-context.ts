import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { CheckContext, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";

/** What the context of a check takes of the run. */
export interface CheckContextPorts {
  readonly approvals: Pick<ApprovalDesk, "newest">;
  readonly invocations: Pick<InvocationLedger, "find">;
  readonly principal: Pick<Principal, "roles">;
}

/**
 * Adds to the context of a call who asked and who approved it, for hooks and `checkState`. The gate
 * `approval` verifies the votes later: a check that lets a call pass because of them opens nothing.
 */
export function checkContextOf(
  { approvals, invocations, principal }: CheckContextPorts,
  context: ToolInvocationContext,
  payloadHash: string,
): CheckContext {
  const { number } = invocations.find(context) ?? {};
  const newest = number === undefined ? undefined : approvals.newest(number);
  const isApproved = newest?.status === "approved" && newest.payloadHash === payloadHash;
  const votes = isApproved ? newest.votes : [];
  const approvers = votes.map(({ approverId: actorId, roles }) => ({ actorId, roles }));
  return { ...context, callerRoles: principal.roles, approvers };
}
