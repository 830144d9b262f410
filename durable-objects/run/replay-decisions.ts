import type { ReplayAnswer } from "../../src/capabilities/run.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import { composeReplay } from "../../src/compose/run.ts";
import type { RawEnv } from "../../src/env.ts";
import type { RunEvidence } from "../../src/loop/replay/evidence.ts";
import { denyAll } from "../../src/protocol/policy/document.ts";
import { type OpenRun, readClaimAndMemory } from "./open-run.ts";

/** Where the rest of the evidence is kept. */
type EvidencePorts = Pick<ReturnType<typeof composeReplay>, "policies" | "conversationOf">;

/**
 * Decides a run again from what it stored. Contract: writes nothing, and no tool runs.
 * Fails: throws once the run has shrunk.
 */
export async function replayDecisions(
  run: OpenRun,
  env: RawEnv,
  deployment: Deployment,
): Promise<ReplayAnswer> {
  if (!deployment.replay) return { kind: "unknown" };
  const ports = composeReplay(env, deployment, run.store.identity().owner.tenantId);
  const replayed = await deployment.replay.run(await readEvidence(run, ports), ports.deciding);
  return replayed.ok
    ? { kind: "replayed", result: replayed.value }
    : { kind: "not_replayable", reason: replayed.failure.reason };
}

/** Reads what a run stored about its decisions, and the policy and history that it names. */
async function readEvidence(run: OpenRun, ports: EvidencePorts): Promise<RunEvidence> {
  const { store, log } = run;
  const { claim, memory } = readClaimAndMemory(run);
  const { runId, workflowId, history, principal } = claim;
  const { modelCalls, pin } = memory.facts;
  const conversation = history && workflowId !== undefined && ports.conversationOf(workflowId);
  const [policy, window] = await Promise.all([
    pin ? ports.policies.read(principal.tenantId, pin) : { policy: denyAll() },
    conversation ? conversation.readWindow(runId, history) : undefined,
  ]);
  return {
    claim,
    policy,
    window,
    context: memory.context,
    transcript: memory.transcript,
    invocations: memory.invocations,
    approvals: run.approvals.all(),
    log: [...log.readAll()],
    modelCalls,
    createdMs: store.identity().createdMs,
  };
}
