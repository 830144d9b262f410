import type { ApprovalRecord, ApprovalToken, ApprovalVote } from "./record.ts";
import type { RunId, TenantId } from "../identity/ids.ts";
import type { PolicyPin } from "../policy/pin.ts";
import { toIso } from "../text/iso-time.ts";

/** An approved call may still begin this long after the approval's expiry. */
const GRACE_MS = 5 * 60_000;

type Approvable = Pick<
  ApprovalRecord,
  "id" | "toolId" | "toolVersion" | "payloadHash" | "expiresAtMs"
> & {
  readonly termsHash: string;
  /** The policy that is current at the vote. */
  readonly pin: PolicyPin;
};

/** Builds the token of one vote that approves (seeds/004, "Approval Tokens"). Contract: pure. */
export function approvalTokenOf(
  { id, toolId, toolVersion, payloadHash, termsHash, pin, expiresAtMs }: Approvable,
  { approverId, roles, atMs }: Pick<ApprovalVote, "approverId" | "roles" | "atMs">,
  { runId, tenantId }: { readonly runId: RunId; readonly tenantId: TenantId },
): ApprovalToken {
  return {
    approval_id: id,
    trace_id: runId,
    tenant_id: tenantId,
    tool_name: toolId,
    tool_version: toolVersion,
    payload_hash: payloadHash,
    terms_hash: termsHash,
    policy_revision: pin.revision,
    policy_hash: pin.hash,
    approver_id: approverId,
    approver_roles: roles,
    approved_at: toIso(atMs),
    expires_at: toIso(expiresAtMs + GRACE_MS),
    approval_scope: "single_execution",
    decision: "approved",
  };
}
