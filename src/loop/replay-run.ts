import type { RunJournal } from "../capabilities/run-journal.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import { hashOf } from "../protocol/json/canonical-hash.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { NO_FACTS } from "../protocol/run/facts.ts";
import type { Play } from "./replay/play.ts";
import { NOBODY_ASKED } from "./replay/nobody-asked.ts";
import type { RunEvidence } from "./replay/run-evidence.ts";
import { decisionsOf } from "./replay/decisions-of.ts";
import { PlayedClock } from "./replay/played-clock.ts";
import { PlayedInbox } from "./replay/played-inbox.ts";
import { playLedger } from "./replay/played-ledger.ts";
import { playBroker, playTools } from "./replay/played-tools.ts";
import { playModel, turnsOf } from "./replay/played-model.ts";
import { whyNotReplayable, type NotReplayableReason } from "./replay/why-not-replayable.ts";
import type { RunLife, RunPorts } from "./open-steps.ts";
import { runLoop } from "./run-loop.ts";
import { beginMemory, type RunMemory } from "./run-memory.ts";

/** What decides: the tools' contracts of now, who may do what, how long a request is. Contract: none acts on anything. */
export type DecidingPorts = Pick<RunPorts, "source" | "authorizationOf" | "inputBound">;

/** `sha256:…` over the decisions of the log, and over those that were made anew. */
export interface Replayed {
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
): Promise<Result<Replayed, NotReplayable>> {
  let reason = whyNotReplayable(evidence);
  if (reason) return refuse(reason);
  const clock = new PlayedClock(evidence.createdMs);
  const journal = new PlayedJournal(evidence, clock);
  const play: Play = {
    evidence,
    clock,
    answered: journal.answered,
    giveUp: (found) => void (reason ??= found),
  };
  await runLoop(lifeOf(evidence), playPorts(play, journal, deciding));
  if (reason) return refuse(reason);
  const recorded = await hashOf(decisionsOf(evidence.log));
  return ok({ recorded, replayed: await hashOf(decisionsOf(journal.events)) });
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
    // Before a run has started nothing counts; PlayedJournal says that it has.
    progress: { ...begun.progress, hasStarted: true },
  };
  return { claim, memory, startedAtMs: createdMs, signal: new AbortController().signal };
}

function playPorts(play: Play, journal: PlayedJournal, deciding: DecidingPorts): RunPorts {
  const { evidence, clock } = play;
  const { policy } = evidence;
  const model = playModel(play, turnsOf(evidence));
  return {
    ...deciding,
    source: playTools(play, deciding.source),
    broker: playBroker(play),
    ledger: playLedger(play, model),
    policies: {
      load: () => Promise.resolve(policy),
      learn: () => {},
      read: () => Promise.resolve(policy),
    },
    registry: { current: () => Promise.resolve(policy.pin) },
    approvals: NOBODY_ASKED,
    approvalSigner: { sign: () => Promise.resolve(""), read: () => Promise.resolve(undefined) },
    model,
    inbox: new PlayedInbox(play),
    hooks: [],
    journal,
    clock,
    random: { fraction: () => 0 },
    outcomeWaitMs: 0,
    limitTime: () => {},
  };
}

/** Keeps what the replay decides, and nothing else; with each result it is the next call's turn. */
class PlayedJournal implements RunJournal {
  readonly events: AiEvent[];
  readonly answered = new Set<string>();
  readonly storedFacts = NO_FACTS;
  readonly #evidence: RunEvidence;
  readonly #clock: PlayedClock;

  constructor(evidence: RunEvidence, clock: PlayedClock) {
    const { runId, model } = evidence.claim;
    this.events = [{ type: "run_started", runId, model }];
    this.#evidence = evidence;
    this.#clock = clock;
  }

  append(events: readonly AiEvent[]): void {
    this.events.push(...events);
    for (const event of events) {
      if (event.type !== "tool_call_result") continue;
      this.answered.add(event.toolCallId);
      const { invocations } = this.#evidence;
      const next = invocations.find(({ toolCallId }) => !this.answered.has(toolCallId));
      if (next?.end) this.#clock.set(next.end.startedAtMs);
    }
  }

  remember(): void {}
  record(): void {}
  note(): void {}
  audit(): void {}
  flush(): void {}

  secure(): Promise<void> {
    return Promise.resolve();
  }
}
