import { hashOf } from "../../protocol/json/canonical-hash.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { operationIdOf } from "../../runner/invocation/invocation-ledger.ts";
import { runLoop } from "../run-loop.ts";
import type { LoopInput } from "../run-scope.ts";
import type { WAITING } from "../../runner/waiting.ts";
import { endInterrupted } from "../end-interrupted.ts";
import { checkEvidence } from "./check-evidence.ts";
import { ReplayClock } from "./clock.ts";
import { cutEvidence } from "./cut-evidence.ts";
import { countsAtEnd, CRASHED, RecordedCrash, wasClosed } from "./crash.ts";
import { readDecisions } from "./decisions.ts";
import type { NotReplayableReason, ReplayResult } from "../../protocol/run/replay.ts";
import { findDifference } from "./difference.ts";
import type { RunEvidence } from "./evidence.ts";
import type { Replay } from "./replay.ts";
import { ReplayJournal } from "./journal.ts";
import { RecordedPeople } from "./people.ts";
import { replayPorts, type DecidingPorts } from "./ports.ts";
import { RecordedStop } from "./stop.ts";

/** The evidence does not hold enough to replay the run. */
export interface NotReplayable {
  readonly code: "not_replayable";
  readonly reason: NotReplayableReason;
}

/**
 * Replays a finished run: runs the real loop and the real gates again, over ports that answer from
 * the run's records. Where the run waited for people, the replay takes what they decided from the
 * records and goes on. No tool is executed, and nothing outside is asked. A run whose end no record
 * holds is replayed up to its last whole step.
 * Contract: no effects; never throws. The hashes are equal exactly when the same contracts, policy
 * and records lead to the same decisions. Fails: not_replayable.
 */
export async function replayRun(
  evidence: RunEvidence,
  deciding: DecidingPorts,
): Promise<Result<ReplayResult, NotReplayable>> {
  const whole = await replayEvidence(evidence, deciding);
  const because = whole.ok ? undefined : whole.failure.reason;
  if (because !== "broken" && because !== "interrupted") return whole;
  const cut = cutEvidence(evidence);
  const replayed = cut ? await replayEvidence(cut, deciding) : whole;
  if (!cut?.untilStep || !replayed.ok) return replayed;
  return ok({ ...replayed.value, until: { step: cut.untilStep, because } });
}

async function replayEvidence(
  evidence: RunEvidence,
  deciding: DecidingPorts,
): Promise<Result<ReplayResult, NotReplayable>> {
  let reason = checkEvidence(evidence);
  if (reason) return refuse(reason);
  const clock = new ReplayClock(evidence.createdMs);
  const stop = new RecordedStop(evidence);
  const crash = new RecordedCrash(evidence);
  const journal = new ReplayJournal({ evidence, clock, stop, crash });
  const records = new Map(evidence.invocations.map((record) => [operationIdOf(record), record]));
  const replay: Replay = {
    evidence,
    clock,
    people: new RecordedPeople(evidence),
    stop,
    crash,
    answered: journal.answered,
    recordOf: (operation) => records.get(operationIdOf(operation)),
    markNotReplayable: (found) => void (reason ??= found),
  };
  await liveAll(replay, journal, replayPorts(replay, deciding));
  if (reason) return refuse(reason);
  const [decided, again] = [readDecisions(evidence.log), readDecisions(journal.events)];
  const [recorded, replayed] = await Promise.all([hashOf(decided), hashOf(again)]);
  const difference = recorded === replayed ? undefined : findDifference(decided, again);
  return ok({ recorded, replayed, ...(difference && { difference }) });
}

function refuse(reason: NotReplayableReason): Result<never, NotReplayable> {
  return fail({ code: "not_replayable", reason });
}

type Ports = ReturnType<typeof replayPorts>;

/** Lives one incarnation after the other, until the run ends or has nothing to go on with. */
async function liveAll(replay: Replay, journal: ReplayJournal, ports: Ports): Promise<void> {
  const { crash, evidence, markNotReplayable } = replay;
  const isClosed = wasClosed(evidence);
  for (;;) {
    const own = { ...ports, journal: journal.open() };
    const how = await Promise.race([crash.begin(), runLoop(inputOf(replay, journal), own)]);
    if (how === CRASHED && evidence.untilStep !== undefined) return;
    if (how === CRASHED && isClosed) return closeRun(replay, journal, ports);
    if (how === "ended") {
      // No record holds at what the last loop of the run failed.
      if (isClosed) markNotReplayable("interrupted");
      return;
    }
    if (!goOn(replay, journal, how)) return;
  }
}

/** Closes the run as its object did, without the loop. */
function closeRun({ evidence, clock }: Replay, replayed: ReplayJournal, ports: Ports): void {
  const { claim } = evidence;
  const journal = replayed.open();
  endInterrupted({ ...ports, journal }, { claim, memory: replayed.memory }, clock);
}

/**
 * Goes on after a crash as the run did, gives a replay that waits what people decided in the run,
 * or stops it as the run was stopped. Answers false when the run did not go on either.
 * Contract: true once per decision and crash.
 */
function goOn(
  { evidence, people, stop }: Replay,
  journal: ReplayJournal,
  how: typeof WAITING | typeof CRASHED,
): boolean {
  if (how === CRASHED) {
    journal.note(countsAtEnd(evidence));
    stop.now();
    return true;
  }
  const open = journal.memory.invocations.filter(({ end }) => !end);
  const decided = people.decide(open);
  for (const record of decided) journal.record(record);
  if (decided.length > 0) return true;
  if (!stop.isToCome) return false;
  stop.now();
  return true;
}

/** Builds the input of the loop that replays a run, or the rest of it. */
function inputOf({ evidence, stop }: Replay, journal: ReplayJournal): LoopInput {
  const { claim: claimed, window, createdMs } = evidence;
  // The window holds the summary that the run wrote, and the first step counts what it used.
  const { summarise: _summarise, ...rest } = claimed;
  const claim = { ...rest, ...(window?.kind === "window" && { window: window.messages }) };
  return { claim, memory: journal.memory, startedAtMs: createdMs, signal: stop.signal };
}
