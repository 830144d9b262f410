import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";

/**
 * Tells whether a person edited the arguments of a call since the loop read them: the loop may run
 * another call meanwhile. The call then waits until the loop reads it again.
 * Contract: false for a call that is bound, because nothing changes its arguments.
 */
export function wasEdited(
  { approvals }: { readonly approvals: Pick<ApprovalDesk, "newest"> },
  { number, binding }: ToolInvocationRecord,
  payloadHash: string,
): boolean {
  if (binding) return false;
  const newest = approvals.newest(number);
  const isEdited = newest?.status === "superseded" && newest.edit !== undefined;
  return isEdited && newest.payloadHash === payloadHash;
}
