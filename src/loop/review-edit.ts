import type { BudgetLedger } from "../capabilities/budget.ts";
import type { AuthorizationPort } from "../capabilities/identity.ts";
import type { PolicyRegistry, PolicyStore } from "../capabilities/policy.ts";
import type { Clock } from "../capabilities/system.ts";
import type { ToolSourcePort } from "../capabilities/tool.ts";
import type { ApprovalRecord } from "../protocol/approval/record.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import { withheldPaths } from "../protocol/json/withheld-paths.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { narrowPolicy } from "../protocol/policy/narrow.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { lowerBudgets } from "../protocol/policy/narrow.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { restoreRunBudget } from "../runner/budget/of-run.ts";
import { checkRoom } from "../runner/budget/reserve.ts";
import { GateTrail } from "../runner/gates/gate.ts";
import { obeyPolicy } from "../runner/gates/obey-policy.ts";
import { readArguments } from "../runner/gates/read-arguments.ts";
import { readCurrentPolicy } from "../runner/terms.ts";
import { failCall } from "../runner/tool-failure.ts";
import { restoreWithheld } from "./restore-withheld.ts";

/** What a review takes of the run. */
export interface ReviewPorts {
  readonly source: ToolSourcePort;
  readonly policies: Pick<PolicyStore, "learn" | "read">;
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly ledger: Pick<BudgetLedger, "peek">;
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly clock: Pick<Clock, "nowMs">;
  readonly runId: RunId;
  readonly claim: Pick<RunClaim, "principal" | "toolIds" | "connectionIds" | "budgets">;
  /** The policy that the run pinned. */
  readonly pin: PolicyPin | undefined;
  /** All calls of the run; they used up its budgets. */
  readonly invocations: readonly ToolInvocationRecord[];
}

/** Arguments that may replace those of a call. */
export interface ReviewedEdit {
  /** JSON of the whole arguments, including what redaction withheld from the editor. */
  readonly argumentsText: string;
  readonly payloadHash: string;
}

/**
 * Checks the arguments that an approver wants instead against the gates that look at arguments, at
 * policy and at budgets, so that a mistake is answered to the approver and does not end the call.
 * The call's own attempt asks every gate again.
 * Contract: reserves nothing.
 * Fails: what those gates fail with; POLICY_VIOLATION where the policy cannot be read; STALE_STATE
 * for a call that has begun, because it is bound to its arguments.
 */
export async function reviewEdit(
  ports: ReviewPorts,
  { call, record }: { readonly call: ToolInvocationRecord; readonly record: ApprovalRecord },
  edited: JsonObject,
): Promise<Result<ReviewedEdit, ToolFailure>> {
  if (call.dispatches > 0 || call.binding) return BEGUN;
  const { claim, source } = ports;
  const tool = source.getBoundTool(record.toolId, record.toolVersion);
  const policy = await readPinnedPolicy(ports);
  if (!tool || !policy) return GONE;
  const trail = new GateTrail();
  const original = await readArguments(tool, call, trail);
  if (!original.ok) return fail(original.failure.failure);
  const { withheld } = record.packet.arguments;
  const whole = restoreWithheld(edited, original.value.args, withheld);
  if (!whole.ok) return whole;
  const argumentsText = JSON.stringify(whole.value);
  const read = await readArguments(tool, { argumentsText, truncated: false }, trail);
  if (!read.ok) return fail(read.failure.failure);
  const { args, shown, payloadHash } = read.value;
  const added = withheldPaths(args, shown).find((pointer) => !withheld.includes(pointer));
  if (added !== undefined) return refuseHidden(added);
  const { principal, connectionIds = [] } = claim;
  const budget = restoreRunBudget(ports.invocations, policy);
  const policyPorts = { ...ports, principal, connectionIds, budget };
  const policyCall = { terms: { policy }, tool, args, operation: call };
  const obeyed = await obeyPolicy(policyPorts, policyCall, trail);
  if (!obeyed.ok) return obeyed;
  const current = await readCurrentPolicy({ ...policyPorts, policy });
  if (!current.ok) return current;
  const { amounts } = obeyed.value;
  const context = { runId: ports.runId, step: call.step, toolCallId: call.toolCallId };
  const room = await checkRoom(
    { ...policyPorts, policy },
    { tool, context, amounts },
    current.value,
  );
  return room.ok ? ok({ argumentsText, payloadHash }) : room;
}

/**
 * Reads the policy that the run pinned, narrowed to what the request asked for; undefined when it
 * cannot be read.
 */
export async function readPinnedPolicy({
  policies,
  claim,
  pin,
}: ReviewPorts): Promise<ToolPolicy | undefined> {
  if (!pin) return undefined;
  const loaded = await policies.read(claim.principal.tenantId, pin);
  if (!loaded.pin) return undefined;
  return lowerBudgets(narrowPolicy(loaded.policy, claim.toolIds), claim.budgets);
}

const BEGUN = failCall("STALE_STATE", {
  code: "begun",
  message: "the call has begun with these arguments; approve it as it is, or reject it",
});
const GONE = failCall("POLICY_VIOLATION", {
  code: "tool_gone",
  message: "the tool or its policy does not exist any more",
});

/** Threat: an editor, whose own vote counts, adds values that later approvers do not see. */
function refuseHidden(field: string): Result<never, ToolFailure> {
  const message = "this field is not shown to other approvers, so it may not be added";
  return fail({
    taxonomyClass: "SEMANTIC_INVALIDITY",
    errors: [{ field, code: "withheld_field", message }],
  });
}
