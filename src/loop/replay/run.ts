import { hashOf } from "../../protocol/json/canonical-hash.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { NO_FACTS } from "../../protocol/run/facts.ts";
import { runLoop } from "../run-loop.ts";
import { newRunMemory, type RunMemory } from "../run-memory.ts";
import type { LoopInput } from "../run-scope.ts";
import { checkEvidence } from "./check-evidence.ts";
import { ReplayClock } from "./clock.ts";
import { readDecisions } from "./decisions.ts";
import type { NotReplayableReason, ReplayResult } from "../../protocol/run/replay.ts";
import { findDifference } from "./difference.ts";
import type { Replay, RunEvidence } from "./evidence.ts";
import { ReplayJournal } from "./journal.ts";
import { replayPorts, type DecidingPorts } from "./ports.ts";

/** The evidence does not hold enough to replay the run. */
export interface NotReplayable {
  readonly code: "not_replayable";
  readonly reason: NotReplayableReason;
}

/**
 * Replays a finished run: runs the real loop and the real gates again, over ports that answer from
 * the run's records. No tool is executed, and nothing outside is asked.
 * Contract: no effects; never throws. The hashes are equal exactly when the same contracts, policy
 * and records lead to the same decisions. Fails: not_replayable.
 */
export async function replayRun(
  evidence: RunEvidence,
  deciding: DecidingPorts,
): Promise<Result<ReplayResult, NotReplayable>> {
  let reason = checkEvidence(evidence);
  if (reason) return refuse(reason);
  const clock = new ReplayClock(evidence.createdMs);
  const journal = new ReplayJournal(evidence, clock);
  const replay: Replay = {
    evidence,
    clock,
    answered: journal.answered,
    markNotReplayable: (found) => void (reason ??= found),
  };
  await runLoop(inputOf(evidence), replayPorts(replay, journal, deciding));
  if (reason) return refuse(reason);
  const [decided, again] = [readDecisions(evidence.log), readDecisions(journal.events)];
  const [recorded, replayed] = await Promise.all([hashOf(decided), hashOf(again)]);
  const difference = recorded === replayed ? undefined : findDifference(decided, again);
  return ok({ recorded, replayed, ...(difference && { difference }) });
}

function refuse(reason: NotReplayableReason): Result<never, NotReplayable> {
  return fail({ code: "not_replayable", reason });
}

/**
 * Builds the input of the loop that replays a run. It counts the recorded model calls that have no
 * step of their own: retries. They count against the step limit. A call that was counted in advance
 * and never made counts, too; this happens only far from the limit.
 */
function inputOf({
  claim: claimed,
  window,
  context,
  createdMs,
  modelCalls,
  log,
}: RunEvidence): LoopInput {
  // The window holds the summary that the run wrote, and the first step counts what it used.
  const { summarise: _summarise, ...rest } = claimed;
  const claim = { ...rest, ...(window?.kind === "window" && { window: window.messages }) };
  const steps = log.filter(({ type }) => type === "step_started").length;
  const begun = newRunMemory(claim.messages);
  const memory: RunMemory = {
    ...begun,
    context,
    facts: { ...NO_FACTS, modelCalls: Math.max(0, modelCalls - steps) },
    // Model calls count only once a run has started. ReplayJournal holds the event that says so.
    progress: { ...begun.progress, hasStarted: true },
  };
  return { claim, memory, startedAtMs: createdMs, signal: new AbortController().signal };
}
