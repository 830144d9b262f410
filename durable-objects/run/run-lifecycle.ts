import type { Clock } from "../../src/capabilities/clock.ts";
import type { EventEncoder } from "../../src/capabilities/event-encoder.ts";
import { checkedEnv } from "../../src/compose/checked-env.ts";
import { composeRun, type RunParts } from "../../src/compose/run.ts";
import { composeRunRecords } from "../../src/compose/run-records.ts";
import type { RawEnv } from "../../src/env.ts";
import { endOfStop } from "../../src/loop/run-end.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { readProgress } from "../../src/loop/run-memory.ts";
import type { StopReason } from "../../src/protocol/run-facts.ts";
import type { Settlement } from "../../src/protocol/tool-invocation.ts";
import type { DeadlineName, Deadlines } from "./deadlines.ts";
import { deliverOutbox } from "./deliver-outbox.ts";
import { readClaim, readMemory, type OpenRun } from "./open-run.ts";
import { isAwaited } from "./stored-invocations.ts";

/** How often the object looks whether its loop still goes. */
const WATCH_EVERY_MS = 30_000;
/** Recoveries without a finished step, after which the run ends. */
const MAX_RECOVERIES = 5;
const BASE_BACKOFF_MS = 1_000;
const OUTBOX_RETRY_MS = 5_000;

export interface LifecyclePorts {
  readonly env: RawEnv;
  readonly contracts: RunParts["contracts"];
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly encoder: EventEncoder;
  /** Keeps the object alive for as long as the work takes. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Leaves nothing of the run. */
  readonly forget: () => Promise<void>;
}

/** The loop of a run, while it goes. */
interface Activity {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Carries one run from life to life until it has ended, and what is left of it to its end: starts its
 * loop, finds it dead, starts it again, lets it wait, stops it, publishes and forgets it.
 * Ownership: one per claimed run in memory. It holds no agent logic.
 */
export class RunLifecycle {
  readonly #run: OpenRun;
  readonly #ports: LifecyclePorts;
  #activity: Activity | undefined;

  constructor(run: OpenRun, ports: LifecyclePorts) {
    this.#run = run;
    this.#ports = ports;
  }

  /** Starts a run that was claimed just now; the alarm that would find it dead is stored with it. */
  start(): void {
    this.#watch(WATCH_EVERY_MS);
    this.#launch();
    // That it has started is stored together with the claim.
    this.#run.journal.flush();
  }

  /** Takes up a run that an earlier life of the object left. */
  wake(): void {
    const { store, journal } = this.#run;
    if (journal.hasEnded) this.#tidyUp();
    else if (!store.lives().isWaiting) this.#recover();
  }

  /** Stops the run; resolves once it has ended. Contract: the first reason stays; idempotent. */
  async stop(asked: StopReason): Promise<void> {
    const { store, journal } = this.#run;
    if (journal.hasEnded) return;
    const lives = store.lives();
    const stop = lives.stop ?? asked;
    store.saveLives({ ...lives, stop });
    if (this.#activity) this.#activity.abort.abort(stop);
    else if (lives.isWaiting) this.#relaunch();
    else this.#recover({ isAsked: true });
    while (this.#activity) await this.#activity.ended;
  }

  /** Takes the word of an operator on what became of a call. Contract: the first one stays. */
  settle(number: number, settlement: Settlement): "settled" | "not_awaited" {
    const { invocations, journal } = this.#run;
    const record = invocations.find(number);
    if (record?.settlement) {
      return record.settlement.outcome === settlement.outcome ? "settled" : "not_awaited";
    }
    if (!record || journal.hasEnded || !isAwaited(record)) return "not_awaited";
    invocations.settle(number, settlement);
    if (!this.#activity) this.#relaunch();
    return "settled";
  }

  /** Meets what is due. Contract: what is met twice is done once. */
  async meetDeadlines(): Promise<void> {
    const { clock, deadlines } = this.#ports;
    for (const name of deadlines.due(clock.nowMs())) await this.#meet(name);
  }

  async #meet(name: DeadlineName): Promise<void> {
    const { deadlines, forget } = this.#ports;
    const { journal, store } = this.#run;
    switch (name) {
      case "watchdog":
        if (journal.hasEnded) deadlines.clear(name);
        else if (this.#activity) this.#watch(WATCH_EVERY_MS);
        else this.#recover();
        return;
      case "wall_clock":
        deadlines.clear(name);
        return this.stop("time");
      case "outcome":
        return this.#expireOutcomes();
      case "outbox":
        deadlines.clear(name);
        return this.#publish();
      case "retention":
        store.shrink();
        deadlines.clear(name);
        return;
      case "forget":
        return forget();
    }
  }

  #watch(delayMs: number): void {
    const { clock, deadlines } = this.#ports;
    deadlines.set("watchdog", clock.nowMs() + delayMs);
  }

  /**
   * Starts the loop of an unfinished run again, in a new epoch. The first time at once; when that did not
   * bring it further, after a while; and when that did not help, only to end it.
   */
  #recover({ isAsked = false } = {}): void {
    const { store, log, journal } = this.#run;
    const { clock, deadlines } = this.#ports;
    const lives = store.lives();
    const { lastStep, isStepOpen } = readProgress(log.readAll());
    const recoveredStep = isStepOpen ? lastStep - 1 : lastStep;
    const recoveries = lives.recoveredStep === recoveredStep ? lives.recoveries + 1 : 1;
    const notBeforeMs = deadlines.at("watchdog") ?? 0;
    if (recoveries > 1 && !isAsked && notBeforeMs > clock.nowMs()) return;
    const isHopeless = recoveries > MAX_RECOVERIES;
    const stop = lives.stop ?? (isHopeless ? "interrupted" : null);
    const epoch = lives.epoch + 1;
    store.saveLives({ epoch, recoveries, recoveredStep, stop, isWaiting: false });
    log.beginEpoch(epoch);
    this.#watch(Math.min(BASE_BACKOFF_MS * 2 ** (recoveries - 1), WATCH_EVERY_MS));
    if (recoveries <= MAX_RECOVERIES + 1) return this.#launch();
    // Not even ending it in order succeeds.
    const { usage } = store.progress();
    journal.append([{ type: "done", ...endOfStop("interrupted"), usage }]);
    this.#tidyUp();
  }

  /** Goes on with a run that waited: nothing was lost, so its epoch stays. */
  #relaunch(): void {
    const { store } = this.#run;
    const { clock, deadlines } = this.#ports;
    store.saveLives({ ...store.lives(), isWaiting: false });
    deadlines.clear("outcome");
    deadlines.resume("wall_clock", clock.nowMs());
    this.#watch(WATCH_EVERY_MS);
    this.#launch();
  }

  #launch(): void {
    const { store, journal, inbox } = this.#run;
    const { env, contracts, deadlines, keepAlive } = this.#ports;
    const abort = new AbortController();
    const { stop } = store.lives();
    if (stop !== null) abort.abort(stop);
    const claim = readClaim(this.#run);
    const { createdMs } = store.identity();
    const limitTime = (maxMs: number): void => {
      if (!deadlines.has("wall_clock")) deadlines.set("wall_clock", createdMs + maxMs);
    };
    const { tenantId } = claim.principal;
    const ports = composeRun(env, { tenantId, journal, inbox, contracts, limitTime });
    const memory = readMemory(this.#run);
    const life = { claim, memory, startedAtMs: createdMs, signal: abort.signal };
    const ended = runLoop(life, ports).then((how) => this.#rest(how));
    this.#activity = { abort, ended };
    keepAlive(ended);
  }

  /** The loop has come to rest: the run has ended, or waits for a person. */
  #rest(how: Awaited<ReturnType<typeof runLoop>>): Promise<void> {
    const { store, journal, invocations } = this.#run;
    const { clock, deadlines } = this.#ports;
    this.#activity = undefined;
    if (how === "ended") {
      this.#tidyUp();
      return this.#publish();
    }
    journal.flush();
    const records = invocations.all();
    const lives = store.lives();
    const hasWord = records.some(({ settlement, end }) => settlement && !end);
    if (lives.stop !== null || hasWord) this.#relaunch();
    else {
      const untilMs = records.filter(isAwaited).map(({ awaitedUntilMs = 0 }) => awaitedUntilMs);
      store.saveLives({ ...lives, isWaiting: true });
      deadlines.clear("watchdog");
      deadlines.pause("wall_clock", clock.nowMs());
      deadlines.set("outcome", Math.min(...untilMs));
    }
    return this.#publish();
  }

  #expireOutcomes(): void {
    const { invocations } = this.#run;
    const { clock, deadlines } = this.#ports;
    const atMs = clock.nowMs();
    deadlines.clear("outcome");
    for (const { number, awaitedUntilMs = 0 } of invocations.all().filter(isAwaited)) {
      if (awaitedUntilMs <= atMs) invocations.settle(number, { outcome: "expired", atMs });
    }
    if (!this.#activity) this.#relaunch();
  }

  /** Sets what a finished run has still before it. */
  #tidyUp(): void {
    const { store } = this.#run;
    const { env, deadlines, clock } = this.#ports;
    deadlines.clear("watchdog", "wall_clock", "outcome");
    if (deadlines.has("forget")) return;
    const { runMs, keyMs } = checkedEnv(env).lifetimes;
    const endedMs = store.progress().endedMs ?? clock.nowMs();
    deadlines.set("retention", endedMs + runMs);
    deadlines.set("forget", endedMs + Math.max(runMs, keyMs));
  }

  /** Delivers what is in the outbox; what cannot be delivered now is tried again by the alarm. */
  async #publish(): Promise<void> {
    const { env, encoder, clock, deadlines } = this.#ports;
    const delivered = await deliverOutbox(this.#run, composeRunRecords(checkedEnv(env)), encoder);
    if (!delivered) deadlines.set("outbox", clock.nowMs() + OUTBOX_RETRY_MS);
  }
}
