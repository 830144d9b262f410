import type { ReplayAnswer } from "../../src/capabilities/run.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import { composeReplay } from "../../src/compose/run.ts";
import type { RawEnv } from "../../src/env.ts";
import type { RunEvidence } from "../../src/loop/replay/evidence.ts";
import type { LoadedPolicy } from "../../src/capabilities/policy.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { PolicyPin } from "../../src/protocol/policy/pin.ts";
import type { ToolPolicy } from "../../src/protocol/policy/document.ts";
import { denyAll } from "../../src/protocol/policy/document.ts";
import { type OpenRun, readClaimAndMemory } from "./open-run.ts";

/** Where the rest of the evidence is kept. */
type EvidencePorts = Pick<ReturnType<typeof composeReplay>, "policies" | "conversationOf">;

/**
 * Decides a run again from what it stored, or its calls under another policy. Contract: writes
 * nothing, and no tool runs. Fails: throws once the run has shrunk.
 */
export async function replayDecisions(
  run: OpenRun,
  { env, deployment }: { readonly env: RawEnv; readonly deployment: Deployment },
  under: ToolPolicy | undefined,
): Promise<ReplayAnswer> {
  if (!deployment.replay) return { kind: "unknown" };
  const ports = composeReplay(env, deployment, run.store.identity().owner.tenantId);
  return deployment.replay.answer(await readEvidence(run, ports), ports.deciding, under);
}

/** Reads what a run stored about its decisions, and the policy and history that it names. */
async function readEvidence(run: OpenRun, ports: EvidencePorts): Promise<RunEvidence> {
  const { store, log } = run;
  const { claim, memory } = readClaimAndMemory(run);
  const { runId, workflowId, history, principal } = claim;
  const { facts } = memory;
  const { pin } = facts;
  const conversation = history && workflowId !== undefined && ports.conversationOf(workflowId);
  const approvals = run.approvals.all();
  const laterPins = laterPinsOf(memory.invocations, approvals, pin);
  const read = (one: PolicyPin): Promise<LoadedPolicy> =>
    ports.policies.read(principal.tenantId, one);
  const [policy, window, ...laterPolicies] = await Promise.all([
    pin ? read(pin) : { policy: denyAll() },
    conversation ? conversation.readWindow(runId, history) : undefined,
    ...laterPins.map(read),
  ]);
  return {
    claim,
    policy,
    laterPolicies,
    window,
    context: memory.context,
    transcript: memory.transcript,
    invocations: memory.invocations,
    approvals,
    log: [...log.readAll()],
    facts,
    createdMs: store.identity().createdMs,
  };
}

/** Lists the policies under which people were asked, or that refused a call, without the pinned. */
function laterPinsOf(
  invocations: readonly ToolInvocationRecord[],
  approvals: readonly ApprovalRecord[],
  pinned: PolicyPin | undefined,
): readonly PolicyPin[] {
  const refused = invocations.flatMap(({ end }) =>
    end?.endedBy?.who === "policy" ? [end.endedBy.pin] : [],
  );
  const pins = [...approvals.map(({ pin }) => pin), ...refused];
  const byHash = new Map(pins.map((pin) => [pin.hash, pin]));
  return [...byHash.values()].filter(({ hash }) => hash !== pinned?.hash);
}
