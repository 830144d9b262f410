import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import {
  combineRequirements,
  type ApprovalRequirement,
} from "../../protocol/approval/requirement.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import { requirementOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { isAskedUnder } from "./terms-now.ts";
import { verifyApproval, type VerifyPorts } from "./verify.ts";

interface Ports extends VerifyPorts {
  readonly approvals: Pick<ApprovalDesk, "newest">;
  readonly fingerprints: Fingerprints;
  readonly invocations: Pick<InvocationLedger, "find">;
}

/** What the step itself would need. */
interface Needed {
  readonly requirement: ApprovalRequirement;
  /** The pinned policy and the current one. */
  readonly policies: readonly ToolPolicy[];
}

/**
 * Tells whether the approval of a saga covers one of its steps: the approval showed exactly this
 * payload of this tool version, and asked at least the people whom the step needs. A step for which
 * a policy asks on its own is never covered, and neither is a call that undoes a step.
 */
export async function isCoveredBySaga(
  ports: Ports,
  { tool, accepted, authority }: ValiditySubject,
  { requirement, policies }: Needed,
): Promise<boolean> {
  const { context } = authority;
  const { saga } = ports.invocations.find(context) ?? {};
  if (!saga || saga.compensates) return false;
  const asNotAsked = { ...tool, confirmationRequired: false };
  if (policies.some((policy) => requirementOf(policy, asNotAsked))) return false;
  const approval = ports.approvals.newest(saga.number);
  const { toolCallId, toolId, toolVersion } = approval ?? {};
  if (!approval || toolCallId === undefined || approval.consumedAtMs === undefined) return false;
  const both = combineRequirements(approval.requirement, requirement);
  if (toCanonicalJson({ ...both }) !== toCanonicalJson({ ...approval.requirement })) return false;
  const shown = approval.packet.steps?.[saga.step - 1];
  const fingerprint = await ports.fingerprints.of(context, accepted.payloadHash);
  const isShown = shown?.tool === tool.id && shown.version === tool.version;
  if (!isShown || shown.payload?.fingerprint !== fingerprint) return false;
  if (!(await isAskedUnder(approval, approval))) return false;
  const sagaContext = { ...context, toolCallId };
  const { payloadHash } = ports.invocations.find(sagaContext)?.binding ?? {};
  if (payloadHash === undefined || toolId === undefined || toolVersion === undefined) return false;
  const call = {
    tool: { id: toolId, version: toolVersion },
    accepted: { payloadHash },
    authority: { context: sagaContext },
  };
  return approval.status === "approved" && (await verifyApproval(ports, call, approval)).ok;
}
