import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { Operation, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";
import { callerOf } from "../../protocol/policy/callers.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { DryRunCall, DryRunOfRun } from "../../protocol/policy/dry-run.ts";
import { soleWorkspace } from "../../protocol/policy/membership.ts";
import { policyOfRun } from "../../protocol/policy/narrow.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { createFlow } from "../../runner/flow/evidence.ts";
import { GateTrail } from "../../runner/gates/gate.ts";
import { readArguments } from "../../runner/gates/read-arguments.ts";
import { operationIdOf } from "../../runner/invocation/invocation-ledger.ts";
import { decideCall, type DecidingCall, type DecisionPorts } from "./decide-call.ts";
import type { RunEvidence } from "./evidence.ts";
import type { DecidingPorts } from "./ports.ts";

/**
 * Tells what another policy would have decided about the calls of a run, beside what the pinned one
 * decides. Both are asked by the same code, at the time of the call.
 * Contract: no effects; asks no tool, no model and nobody. The answer holds no argument, and rules
 * see the redacted ones alone. Budgets and rates are not counted: they depend on other calls.
 */
export async function dryRun(
  evidence: RunEvidence,
  deciding: DecidingPorts,
  policy: ToolPolicy,
): Promise<DryRunOfRun> {
  const { claim, invocations } = evidence;
  const { principal } = claim;
  const tools = await deciding.source.load(principal.tenantId);
  const portsOf = readPorts(evidence, deciding);
  const pinned = policyOfRun(evidence.policy.policy, claim);
  const other = policyOfRun(policy, claim);
  const calls: DryRunCall[] = [];
  for (const record of invocations) {
    const { version = "" } = record.binding ?? record.end?.observation.tool_identity ?? {};
    const tool = tools.getBoundTool(record.name, version);
    const call = tool && (await readCall(evidence, tool, record));
    if (!call) continue;
    const under = (one: ToolPolicy, nowMs: number): ReturnType<typeof decideCall> =>
      decideCall(portsOf(one, nowMs), call, one);
    calls.push({
      runId: claim.runId,
      invocationId: invocationIdOf(record.number),
      toolId: call.tool.id,
      toolVersion: call.tool.version,
      askedAt: toIso(record.askedAtMs),
      from: await under(pinned, record.askedAtMs),
      to: await under(other, record.askedAtMs),
    });
  }
  return { calls, undecided: invocations.length - calls.length };
}

/**
 * Reads a call as people may see it. Threat: somebody who writes policies tries rules until one
 * fits an argument that redaction withholds.
 */
async function readCall(
  { approvals = [] }: RunEvidence,
  tool: BoundToolRuntime,
  record: ToolInvocationRecord,
): Promise<DecidingCall | undefined> {
  const read = await readArguments(tool, record, new GateTrail());
  if (!read.ok) return undefined;
  const { shownData = [] } = record;
  // The amount may stand in the state that people saw.
  const asked = approvals.findLast(({ invocation }) => invocation === record.number);
  return { tool, args: read.value.shown, operation: record, shownData, previewed: asked?.packet };
}

function readPorts(
  { claim, invocations, transcript, window }: RunEvidence,
  { authorizationOf, modelOf }: DecidingPorts,
): (policy: ToolPolicy, nowMs: number) => DecisionPorts {
  const { principal, connectionIds = [] } = claim;
  const records = new Map(invocations.map((record) => [operationIdOf(record), record]));
  const calls = {
    find: (operation: Operation) => records.get(operationIdOf(operation)),
    ended: () => invocations.filter(({ end }) => end),
  };
  const earlier = window?.kind === "window" ? window.messages : [];
  const messages = [...earlier, ...transcript];
  const flow = createFlow(calls, () => messages, { newest: () => undefined });
  const caller = callerOf(claim, modelOf);
  return (policy, nowMs) => ({
    principal,
    caller,
    connectionIds,
    workspaceId: claim.workspaceId ?? soleWorkspace(policy, principal),
    authorizationOf,
    clock: { nowMs: () => nowMs },
    flow,
  });
}
