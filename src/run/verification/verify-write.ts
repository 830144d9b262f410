import type { ModelDirectory } from "../../capabilities/model.ts";
import type { ToolSourcePort } from "../../capabilities/tool.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { callerOf } from "../../protocol/policy/callers.ts";
import { policyOfRun } from "../../protocol/policy/narrow.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { loadTools } from "../../contracts/catalog/load-tools.ts";
import { answerWithin } from "../../contracts/bind/answer-within.ts";
import { NO_FLOW } from "../../runner/flow/evidence.ts";
import { verifyCall, type Verified } from "../../runner/verification/verify-call.ts";
import type { ToolRunnerPorts } from "../../runner/ports.ts";

/** What verifying takes of a run. */
export type VerifyingPorts = Pick<
  ToolRunnerPorts,
  "policies" | "authorizationOf" | "broker" | "fingerprints" | "clock" | "log"
> & { readonly source: ToolSourcePort; readonly modelOf: ModelDirectory };

/** A run and the policy that it pinned. */
interface VerifiedRun {
  readonly claim: Omit<RunClaim, "messages">;
  readonly pin: PolicyPin | undefined;
}

/** Time of one attempt, with the reads that come before the contract is asked. */
export const MAX_ATTEMPT_MS = 15_000;
const UNKNOWN = { kind: "unknown" } as const;

/**
 * Verifies one completed write of a run, with the version of the tool that made it and under the
 * policy that the run pinned. The run may have ended.
 * Contract: never throws; changes nothing. `unknown` where the tool or the policy is gone, or does
 * not answer in time.
 */
export async function verifyWrite(
  ports: VerifyingPorts,
  run: VerifiedRun,
  record: ToolInvocationRecord,
): Promise<Verified> {
  try {
    const patience = { clock: ports.clock, timeoutMs: MAX_ATTEMPT_MS };
    const waited = await answerWithin(patience, () => verifyWith(ports, run, record));
    return waited.kind === "answered" ? waited.value : UNKNOWN;
  } catch (thrown) {
    ports.log.fault("verification_failed", thrown);
    return UNKNOWN;
  }
}

async function verifyWith(
  ports: VerifyingPorts,
  { claim, pin }: VerifiedRun,
  record: ToolInvocationRecord,
): Promise<Verified> {
  const { runId, principal, workflowId = runId, connectionIds = [] } = claim;
  const { tenantId, actorId } = principal;
  const { name, toolCallId, step, part, binding, end } = record;
  if (!binding || !end?.verification || !pin) return UNKNOWN;
  const tools = await loadTools(ports, tenantId);
  const tool = tools?.getBoundTool(name, binding.version);
  if (!tool) return UNKNOWN;
  const { policy } = await ports.policies.read(tenantId, pin);
  const context = { runId, tenantId, actorId, toolCallId, step, part };
  const about = {
    ...ports,
    policy: policyOfRun(policy, claim),
    pin,
    principal,
    caller: callerOf(claim, ports.modelOf),
    workflowId,
    connectionIds,
    // Not what the request named: the write reached this one.
    workspaceId: binding.workspaceId,
    journal: { append: () => {} },
    // The call has taken its part of the budgets; a read of its state takes nothing.
    budget: { findOutOfReach: () => undefined },
    flow: NO_FLOW,
    invocations: { find: () => record, noteRows: () => {} },
  };
  const call = { tool, toolCall: record, context, signal: new AbortController().signal };
  return verifyCall(about, call, end.verification);
}
