import type { BudgetLedger } from "../../capabilities/budget.ts";
import type { AuthorizationPort } from "../../capabilities/identity.ts";
import type { PolicyRegistry, PolicyStore } from "../../capabilities/policy.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime, ToolSourcePort } from "../../capabilities/tool.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { soleWorkspace } from "../../protocol/policy/membership.ts";
import { policyOfRun } from "../../protocol/policy/narrow.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { restoreRunBudget } from "../../runner/budget/of-run.ts";
import type { RoomPorts } from "../../runner/budget/reserve.ts";
import { GateTrail } from "../../runner/gates/gate.ts";
import { obeyNewerPolicy } from "../../runner/gates/obey-newer-policy.ts";
import { obeyPolicy, type PolicyPorts } from "../../runner/gates/obey-policy.ts";
import type { PolicySubject } from "../../runner/gates/subjects.ts";
import { readCurrentPolicy, type PinnedTerms } from "../../runner/terms.ts";
import { failCall } from "../../runner/tool-failure.ts";

/** What a review takes of the run. */
export interface ReviewPorts {
  readonly source: ToolSourcePort;
  readonly policies: Pick<PolicyStore, "learn" | "read">;
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly ledger: Pick<BudgetLedger, "peek">;
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly clock: Pick<Clock, "nowMs">;
  readonly runId: RunId;
  readonly claim: Pick<
    RunClaim,
    "principal" | "toolIds" | "connectionIds" | "workspaceId" | "budgets"
  >;
  /** The policy that the run pinned. */
  readonly pin: PolicyPin | undefined;
  /** All calls of the run; they used up its budgets. */
  readonly invocations: readonly ToolInvocationRecord[];
}

/** An approval, and the call that it is about. */
export interface ReviewedCall {
  readonly call: ToolInvocationRecord;
  readonly record: ApprovalRecord;
}

/** The call of an approval, and the two policies that it has to obey. */
export interface Review extends ReviewedCall {
  /** Absent when the deployment has no such version any more. */
  readonly tool: BoundToolRuntime | undefined;
  /** The policy that the run pinned, narrowed to what the request asked for. */
  readonly pinned: ToolPolicy;
  readonly current: PinnedTerms;
  /** What the gates take. Their `policy` is the pinned one, which is the ceiling. */
  readonly gatePorts: PolicyPorts & RoomPorts;
  readonly trail: GateTrail;
}

/**
 * Reads what the call of an open approval has to obey now.
 * Contract: never throws. Fails: DEPENDENCY_UNAVAILABLE when a policy cannot be read.
 */
export async function openReview(
  ports: ReviewPorts,
  { call, record }: ReviewedCall,
): Promise<Result<Review, ToolFailure>> {
  const { claim, policies, pin } = ports;
  const { principal, connectionIds = [] } = claim;
  const loaded = pin && (await policies.read(principal.tenantId, pin));
  if (!loaded?.pin) return UNREADABLE;
  const pinned = policyOfRun(loaded.policy, claim);
  const current = await readCurrentPolicy({ ...ports, policy: pinned, principal });
  if (!current.ok) return UNREADABLE;
  const budget = restoreRunBudget(ports.invocations, pinned);
  const { workspaceId = soleWorkspace(pinned, principal) } = claim;
  return ok({
    call,
    record,
    tool: ports.source.getBoundTool(record.toolId, record.toolVersion),
    pinned,
    current: current.value,
    gatePorts: { ...ports, principal, connectionIds, workspaceId, budget, policy: pinned },
    trail: new GateTrail(),
  });
}

/**
 * Holds the call with these arguments against both policies, as the runner does when the call
 * continues. Fails: what `obeyNewerPolicy` fails with.
 */
export async function obeyBothPolicies(
  { call, current, gatePorts, pinned, trail }: Review,
  tool: BoundToolRuntime,
  args: JsonObject,
): Promise<Result<PolicySubject, ToolFailure>> {
  const asked = { tool, args, operation: call };
  const obeyed = await obeyPolicy(gatePorts, { ...asked, terms: { policy: pinned } }, trail);
  if (!obeyed.ok) return obeyed;
  const { connectionId } = obeyed.value;
  const still = await obeyNewerPolicy(
    gatePorts,
    { ...asked, connectionId },
    { terms: current, trail },
  );
  return still.ok ? obeyed : still;
}

const UNREADABLE = failCall("DEPENDENCY_UNAVAILABLE", {
  code: "policy_unavailable",
  message: "the policy of this call cannot be read; try again later",
});
