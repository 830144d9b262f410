import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import { assignPeople } from "../../protocol/approval/assign-people.ts";
import { isAtLeast, type ApprovalRequirement } from "../../protocol/approval/requirement.ts";
import { requirementsOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { readMoved } from "../../protocol/tool/amount-field.ts";
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
  readonly requirements: readonly ApprovalRequirement[];
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
  { requirements, policies }: Needed,
): Promise<boolean> {
  const { context } = authority;
  const { saga } = ports.invocations.find(context) ?? {};
  if (!saga || saga.compensates) return false;
  const asNotAsked = { ...tool, confirmationRequired: false };
  const call = { tool: asNotAsked, moved: readMoved(tool.amountField, accepted) };
  if (policies.some((policy) => requirementsOf(policy, call).length > 0)) return false;
  const approval = ports.approvals.newest(saga.number);
  const { toolCallId, toolId, toolVersion } = approval ?? {};
  if (!approval || toolCallId === undefined || approval.consumedAtMs === undefined) return false;
  if (!areMetBy(approval.requirements, requirements)) return false;
  const shown = approval.packet.steps?.[saga.step - 1];
  const fingerprint = await ports.fingerprints.of(context, accepted.payloadHash);
  const isShown = shown?.tool === tool.id && shown.version === tool.version;
  if (!isShown || shown.payload?.fingerprint !== fingerprint) return false;
  if (!(await isAskedUnder(approval, approval))) return false;
  const sagaContext = { ...context, toolCallId };
  const { payloadHash } = ports.invocations.find(sagaContext)?.binding ?? {};
  if (payloadHash === undefined || toolId === undefined || toolVersion === undefined) return false;
  const sagaCall = {
    tool: { id: toolId, version: toolVersion },
    accepted: { payloadHash },
    authority: { context: sagaContext },
  };
  return approval.status === "approved" && (await verifyApproval(ports, sagaCall, approval)).ok;
}

/**
 * Tells whether each needed requirement has another one that is at least as strict. A field of the
 * saga says nothing about a field of its step.
 */
function areMetBy(
  asked: readonly ApprovalRequirement[],
  needed: readonly ApprovalRequirement[],
): boolean {
  const fits = needed.map((need) => [...asked.keys()].filter((at) => isStrict(asked[at], need)));
  const met = assignPeople(
    asked.map(() => 1),
    fits,
  );
  return met.filter((count) => count > 0).length === needed.length;
}

function isStrict(asked: ApprovalRequirement | undefined, need: ApprovalRequirement): boolean {
  return asked !== undefined && !need.approverIsNot && isAtLeast(asked, need);
}
