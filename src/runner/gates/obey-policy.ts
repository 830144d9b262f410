import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import { authorise } from "./authorise.ts";
import { checkCaller } from "./check-caller.ts";
import { checkArgumentRules } from "./check-argument-rules.ts";
import { checkCeilings } from "./check-ceilings.ts";
import { checkData } from "./check-data.ts";
import { checkDataFlow } from "./check-data-flow.ts";
import { passAll, type GateTrail, type PortsOf } from "./gate.ts";
import { policyGate } from "./check-allowed.ts";
import type { PolicySubject } from "./subjects.ts";

const GATES = [
  policyGate,
  checkCaller,
  checkData,
  authorise,
  checkArgumentRules,
  checkDataFlow,
  checkCeilings,
] as const;

/** What this group uses of the run. */
export type PolicyPorts = PortsOf<typeof GATES>;

/**
 * Group: holds a call against a policy: the tool, the caller, the arguments and the ceilings (gates
 * 2, 6 and 7). The runner asks it about the policy that the run pinned and about each newer one; an
 * approver's edit and a reconciliation pass it too.
 * Fails: POLICY_VIOLATION, PERMISSION_DENIED, OUT_OF_BOUNDS, BUDGET_EXHAUSTED.
 */
export function obeyPolicy(
  ports: PolicyPorts,
  call: Omit<PolicySubject, "connectionId" | "workspaceId" | "amounts">,
  trail: GateTrail,
): Promise<Result<PolicySubject, ToolFailure>> {
  const found = { connectionId: undefined, workspaceId: undefined };
  const subject: PolicySubject = { ...call, ...found, amounts: {} };
  return passAll<PolicySubject, PolicyPorts>(GATES, subject, { ports, trail });
}
