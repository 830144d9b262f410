import { failCall } from "../../protocol/outcome/failures.ts";
import type { ApprovalSigner } from "../../capabilities/approval.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { checkVote } from "../../protocol/approval/check-vote.ts";
import { isMet } from "../../protocol/approval/count-people.ts";
import type {
  ApprovalRecord,
  ApprovalToken,
  ApprovalVote,
} from "../../protocol/approval/record.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";

/** What verifying takes of the run. */
export interface VerifyPorts {
  readonly approvalSigner: ApprovalSigner;
  readonly invocations: Pick<InvocationLedger, "find">;
  readonly principal: Pick<Principal, "tenantId">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** The call that an approval has to be for. */
interface ApprovedCall {
  readonly tool: Pick<BoundToolRuntime, "id" | "version">;
  readonly accepted: { readonly payloadHash: string };
  readonly authority: { readonly context: ToolInvocationContext };
}

/**
 * Verifies that an approval is for this call: distinct people who voted meet every requirement,
 * each with a token that this deployment signed for this run, tool, version, payload and terms,
 * each entitled to decide, and in time (seeds/004, "Approval Tokens"). The runner verifies before
 * every attempt.
 * Contract: the caller has compared the terms of the approval with those of the call.
 * Fails: CONFIRMATION_MISSING.
 */
export async function verifyApproval(
  ports: VerifyPorts,
  call: ApprovedCall,
  record: ApprovalRecord,
): Promise<Result<ApprovalRecord, ToolFailure>> {
  const dispatches = ports.invocations.find(call.authority.context)?.dispatches ?? 0;
  if (record.consumedAtMs !== undefined && dispatches === 0) return USED;
  const counted: ApprovalVote[] = [];
  let isLate = false;
  for (const vote of record.votes) {
    const token =
      vote.token === undefined ? undefined : await ports.approvalSigner.read(vote.token);
    if (!token || !isFor(token, record, { ...call, tenantId: ports.principal.tenantId })) continue;
    if (!isEntitled(token, vote, record)) continue;
    if (Date.parse(token.expires_at) > ports.clock.nowMs()) {
      counted.push({ ...vote, roles: token.approver_roles });
    } else isLate = true;
  }
  if (isMet(record, counted)) return ok(record);
  return isLate ? LATE : INVALID;
}

function isFor(
  token: ApprovalToken,
  { id, termsHash }: Pick<ApprovalRecord, "id" | "termsHash">,
  { tool, accepted, authority, tenantId }: ApprovedCall & Pick<Principal, "tenantId">,
): boolean {
  return (
    token.approval_id === id &&
    token.trace_id === authority.context.runId &&
    token.tenant_id === tenantId &&
    token.tool_name === tool.id &&
    token.tool_version === tool.version &&
    token.payload_hash === accepted.payloadHash &&
    token.terms_hash === termsHash &&
    token.approval_scope === "single_execution" &&
    token.decision === "approved"
  );
}

function isEntitled(token: ApprovalToken, vote: ApprovalVote, record: ApprovalRecord): boolean {
  const who = { actorId: token.approver_id, roles: token.approver_roles };
  return token.approver_id === vote.approverId && checkVote(record, who, vote) === undefined;
}

const INVALID = failCall("approval_invalid");
const LATE = failCall("approval_expired", "the approval has expired");
const USED = failCall("approval_used");
