import { hashOf } from "../../protocol/json/canonical-hash.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { NO_FACTS } from "../../protocol/run/facts.ts";
import type { RunLife } from "../open-steps.ts";
import { runLoop } from "../run-loop.ts";
import { beginMemory, type RunMemory } from "../run-memory.ts";
import { checkEvidence } from "./check-evidence.ts";
import { ReplayClock } from "./clock.ts";
import { readDecisions } from "./decisions.ts";
import type { NotReplayableReason, Replay, RunEvidence } from "./evidence.ts";
import { ReplayJournal } from "./journal.ts";
import { replayPorts, type DecidingPorts } from "./ports.ts";

/** `sha256:…` over the decisions of the log, and over those that were made anew. */
export interface ReplayHashes {
  readonly recorded: string;
  readonly replayed: string;
}

/** The evidence does not tell enough to decide anew. */
export interface NotReplayable {
  readonly code: "not_replayable";
  readonly reason: NotReplayableReason;
}

/**
 * Decides a finished run again from what it has left: the real loop and the real gates over ports that
 * are played from the record. No tool is executed and nothing outside is asked; what the outside said
 * then is said again.
 * Contract: pure but for promises; never throws; the hashes are equal exactly when the same contracts,
 * policy and record bring about the same decisions. Fails: not_replayable.
 */
export async function replayRun(
  evidence: RunEvidence,
  deciding: DecidingPorts,
): Promise<Result<ReplayHashes, NotReplayable>> {
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
  await runLoop(lifeOf(evidence), replayPorts(replay, journal, deciding));
  if (reason) return refuse(reason);
  const recorded = await hashOf(readDecisions(evidence.log));
  return ok({ recorded, replayed: await hashOf(readDecisions(journal.events)) });
}

function refuse(reason: NotReplayableReason): Result<never, NotReplayable> {
  return fail({ code: "not_replayable", reason });
}

/**
 * Begins with the model calls counted that are not played: those that were made twice. They count against
 * the limit of steps. Counted ahead, one that was not made counts too; that is far from the limit.
 */
function lifeOf({ claim, createdMs, modelCalls, log }: RunEvidence): RunLife {
  const steps = log.filter(({ type }) => type === "step_started").length;
  const begun = beginMemory(claim.messages);
  const memory: RunMemory = {
    ...begun,
    facts: { ...NO_FACTS, modelCalls: Math.max(0, modelCalls - steps) },
    // Before a run has started nothing counts; ReplayJournal says that it has.
    progress: { ...begun.progress, hasStarted: true },
  };
  return { claim, memory, startedAtMs: createdMs, signal: new AbortController().signal };
}
