import type {
  ApprovalRecord,
  ApprovalToken,
  ApprovalVote,
} from "../../protocol/approval/record.ts";
import { foldPerson, checkVote } from "../../protocol/approval/vote.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Tells whether an approval is one of this call: enough people, each of them with a token that was signed
 * here for this run, tool, version, payload and policy, whose right to decide holds, and in time
 * (seeds/004, "Approval Tokens").
 * Contract: asked before every attempt; throws nothing. Fails: CONFIRMATION_MISSING.
 */
export async function verifyApproval(
  hand: ActiveCall,
  record: ApprovalRecord,
  payloadHash: string,
): Promise<Result<ApprovalRecord, ToolFailure>> {
  const { ports, context } = hand;
  const dispatches = ports.invocations.find(context)?.dispatches ?? 0;
  if (record.consumedAtMs !== undefined && dispatches === 0) return USED;
  const people = new Set<string>();
  let isLate = false;
  for (const vote of record.votes) {
    const token =
      vote.token === undefined ? undefined : await ports.approvalSigner.read(vote.token);
    if (!token || !isAbout(token, { ...record, payloadHash }, hand)) continue;
    if (!isEntitled(token, vote, record)) continue;
    if (Date.parse(token.expires_at) > ports.clock.nowMs())
      people.add(foldPerson(token.approver_id));
    else isLate = true;
  }
  if (people.size >= record.requirement.required) return ok(record);
  return isLate ? LATE : INVALID;
}

function isAbout(
  token: ApprovalToken,
  { id, payloadHash, pin }: Pick<ApprovalRecord, "id" | "payloadHash" | "pin">,
  { ports, context, tool }: ActiveCall,
): boolean {
  return (
    token.approval_id === id &&
    token.trace_id === context.runId &&
    token.tenant_id === ports.principal.tenantId &&
    token.tool_name === tool.id &&
    token.tool_version === tool.version &&
    token.payload_hash === payloadHash &&
    token.policy_revision === pin.revision &&
    token.policy_hash === pin.hash &&
    token.approval_scope === "single_execution" &&
    token.decision === "approved"
  );
}

function isEntitled(token: ApprovalToken, vote: ApprovalVote, record: ApprovalRecord): boolean {
  const who = { actorId: token.approver_id, roles: token.approver_roles };
  return token.approver_id === vote.approverId && checkVote(record, who, vote) === undefined;
}

const INVALID = failCall("CONFIRMATION_MISSING", {
  code: "approval_invalid",
  message: "the approval is not one of this call",
});
const LATE = failCall("CONFIRMATION_MISSING", {
  code: "approval_expired",
  message: "the approval came too long ago",
});
const USED = failCall("CONFIRMATION_MISSING", {
  code: "approval_used",
  message: "the approval was taken before",
});
