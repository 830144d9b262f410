import type { Clock } from "../../src/capabilities/system.ts";
import type { RunRecords } from "../../src/capabilities/run.ts";
import type { TenantInbox } from "../../src/capabilities/tenant.ts";
import { requireEnv } from "../../src/env.ts";
import { composeRun, type RunParts } from "../../src/compose/run.ts";
import { composeRunRecords } from "../../src/compose/stores.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { RawEnv } from "../../src/env.ts";
import { endInterrupted } from "../../src/loop/end-interrupted.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { readProgress } from "../../src/loop/run-memory.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import type { Settlement } from "../../src/protocol/invocation/record.ts";
import type { RunDeadline, RunDeadlines } from "../deadlines.ts";
import { OutboxDelivery } from "./outbox-delivery.ts";
import { readLife, type OpenRun } from "./open-run.ts";
import { planRecovery } from "./plan-recovery.ts";
import { waitReasonsOf } from "./wait-reasons.ts";
import { expireOutcomes, settleOutcome } from "./settle-outcomes.ts";

/** How often the object looks whether its loop still goes. */
const WATCH_EVERY_MS = 30_000;
/** When a run that is not fully told of is to be forgotten. */
const FORGET_RETRY_MS = 60_000;
/** How long a loop may take to reach its first step, or to end once it is stopped. */
const STUCK_AFTER_MS = 30_000;

export interface LifecyclePorts {
  readonly env: RawEnv;
  readonly contracts: RunParts["contracts"];
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  /** Keeps the object alive for as long as the work takes. */
  readonly keepAlive: (work: Promise<unknown>) => void;
  /** Gives the object up; its next life goes on from what is stored. */
  readonly abandon: (cause: unknown) => void;
  /** Leaves nothing of the run. */
  readonly forget: () => Promise<void>;
}

/** The loop of a run, while it goes. */
interface Activity {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  /** When it has to have come further; undefined while it may take its time. Unit: Unix milliseconds. */
  stuckAtMs: number | undefined;
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
  readonly #delivery: OutboxDelivery;

  constructor(run: OpenRun, ports: LifecyclePorts) {
    this.#run = run;
    this.#ports = ports;
    const recordsOf = (): RunRecords => composeRunRecords(requireEnv(ports.env));
    const inboxOf = (tenantId: TenantId): TenantInbox =>
      composeTenants(requireEnv(ports.env).tenants).inboxOf(tenantId);
    this.#delivery = new OutboxDelivery(run, { ...ports, recordsOf, inboxOf });
  }

  /** Starts a run that was claimed just now; the alarm that would find it dead is stored with it. */
  start(): void {
    this.#watch(WATCH_EVERY_MS);
    this.#run.notices.started();
    this.#launch();
    // That it has started is stored together with the claim.
    this.#run.journal.flush();
  }

  /**
   * Takes up a run that an earlier life of the object left. Its epoch begins now, whenever its loop does:
   * readers may have seen deltas that the crash lost, and nothing that is said from now on may bear their
   * ids.
   */
  wake(): void {
    const { store, journal, log } = this.#run;
    if (journal.hasEnded) return this.#tidyUp();
    const lives = store.lives();
    if (lives.isWaiting) return;
    const epoch = lives.epoch + 1;
    store.saveLives({ ...lives, epoch });
    log.beginEpoch(epoch);
    this.#recover();
    this.#delivery.takeUp();
  }

  /** Stops the run; resolves once it has ended. Contract: the first reason stays; idempotent. */
  async stop(asked: StopReason): Promise<void> {
    this.#askToStop(asked);
    while (this.#activity) await this.#activity.ended;
  }

  #askToStop(asked: StopReason): void {
    const { store, journal } = this.#run;
    if (journal.hasEnded) return;
    const lives = store.lives();
    const stop = lives.stop ?? asked;
    store.saveLives({ ...lives, stop });
    if (this.#activity) {
      this.#activity.stuckAtMs ??= this.#ports.clock.nowMs() + STUCK_AFTER_MS;
      this.#activity.abort.abort(stop);
    } else if (lives.isWaiting) this.#relaunch();
    else this.#recover({ isAsked: true });
  }

  /** Takes the word of an operator on what became of a call. Contract: the first one stays. */
  settle(number: number, settlement: Settlement): "settled" | "not_awaited" {
    const answer = settleOutcome(this.#run, number, settlement);
    if (answer === "settled") this.goOn();
    return answer;
  }

  /** Goes on with a run that waits, for there is word; a loop that goes, or will after a crash, finds it. */
  goOn(): void {
    if (this.#run.store.lives().isWaiting) this.#relaunch();
  }

  /** Closes the questions whose time is up, whoever noticed it. */
  expireApprovals(): void {
    const { clock, deadlines } = this.#ports;
    const { approvals } = this.#run;
    deadlines.clear("approval");
    if (!approvals.expire(clock.nowMs())) return this.#awaitApprovals();
    this.goOn();
  }

  /**
   * Meets what is due. Contract: what is met twice is done once.
   * Fails: throws what one of them threw, once the others are met.
   */
  async meetDeadlines(): Promise<void> {
    const { clock, deadlines } = this.#ports;
    const failures: unknown[] = [];
    for (const name of deadlines.due(clock.nowMs())) {
      if (name === "forget" && !this.#run.outbox.hasNotices()) return this.#ports.forget();
      try {
        await this.#meet(name);
      } catch (cause) {
        failures.push(cause);
      }
    }
    if (failures.length > 0) throw new Error("a deadline was not met", { cause: failures[0] });
  }

  async #meet(name: RunDeadline): Promise<void> {
    const { deadlines } = this.#ports;
    switch (name) {
      case "watchdog":
        return this.#lookAfter();
      case "wall_clock":
        deadlines.clear(name);
        return this.#askToStop("time");
      case "outcome":
        return this.#expireOutcomes();
      case "approval":
        return this.expireApprovals();
      case "outbox":
        return this.#delivery.deliver();
      case "retention":
        this.#run.store.shrink();
        return deadlines.clear(name);
      case "forget":
        // Its tenant has not heard everything yet.
        deadlines.set(name, this.#ports.clock.nowMs() + FORGET_RETRY_MS);
        return this.#delivery.deliver();
    }
  }

  /** Takes up a loop that is dead, and gives one up that neither goes on nor ends. */
  #lookAfter(): void {
    const { clock, deadlines, abandon } = this.#ports;
    if (this.#run.journal.hasEnded) return deadlines.clear("watchdog");
    this.#delivery.takeUp();
    if (!this.#activity) return this.#recover();
    const { stuckAtMs = Infinity } = this.#activity;
    if (stuckAtMs <= clock.nowMs()) return abandon("the loop is stuck");
    this.#watch(WATCH_EVERY_MS);
  }

  #watch(delayMs: number): void {
    const { clock, deadlines } = this.#ports;
    deadlines.set("watchdog", clock.nowMs() + delayMs);
  }

  /** Starts the loop of an unfinished run again, as planned; at once when somebody asks for it. */
  #recover({ isAsked = false } = {}): void {
    const { store, log } = this.#run;
    const { clock, deadlines } = this.#ports;
    const plan = planRecovery(store.lives(), readProgress(log.readAll()));
    const notBeforeMs = deadlines.at("watchdog") ?? 0;
    if (plan.isRepeated && !isAsked && notBeforeMs > clock.nowMs()) return;
    store.saveLives(plan.lives);
    this.#watch(Math.min(plan.backoffMs, WATCH_EVERY_MS));
    if (plan.mayLaunch) return this.#launch();
    endInterrupted(this.#run, readLife(this.#run), clock);
    this.#settleDown();
  }

  /** Goes on with a run that waited: nothing was lost, so its epoch stays. */
  #relaunch(): void {
    const { store } = this.#run;
    const { clock, deadlines } = this.#ports;
    store.saveLives({ ...store.lives(), isWaiting: false });
    this.#run.notices.standing();
    deadlines.clear("outcome", "approval");
    deadlines.resume("wall_clock", clock.nowMs());
    this.#watch(WATCH_EVERY_MS);
    this.#launch();
  }

  #launch(): void {
    const { store, journal, inbox, approvals } = this.#run;
    const { env, contracts, clock, deadlines, keepAlive, abandon } = this.#ports;
    const abort = new AbortController();
    const { stop } = store.lives();
    if (stop !== null) abort.abort(stop);
    const { createdMs } = store.identity();
    const limitTime = (maxMs: number): void => {
      if (abort.signal.aborted) return;
      activity.stuckAtMs = undefined;
      if (!deadlines.has("wall_clock")) deadlines.set("wall_clock", createdMs + maxMs);
    };
    const life = { ...readLife(this.#run), startedAtMs: createdMs, signal: abort.signal };
    const { tenantId } = life.claim.principal;
    const ports = composeRun(env, { tenantId, journal, inbox, approvals, contracts, limitTime });
    const ended = runLoop(life, ports)
      .then((how) => this.#rest(how))
      .catch(abandon);
    const activity: Activity = { abort, ended, stuckAtMs: clock.nowMs() + STUCK_AFTER_MS };
    this.#activity = activity;
    keepAlive(ended);
  }

  /** The loop has come to rest: the run has ended, or waits for a person. */
  #rest(how: Awaited<ReturnType<typeof runLoop>>): void {
    const { store, journal } = this.#run;
    const { clock, deadlines, keepAlive } = this.#ports;
    this.#activity = undefined;
    if (how === "ended") return this.#settleDown();
    journal.flush();
    const reasons = waitReasonsOf(this.#run);
    if (!reasons) return this.#relaunch();
    if (reasons.needsApproval) {
      journal.append([{ type: "run_waiting", usage: store.progress().usage }]);
      journal.flush();
    }
    store.saveLives({ ...store.lives(), isWaiting: true });
    this.#run.notices.standing();
    deadlines.clear("watchdog");
    deadlines.pause("wall_clock", clock.nowMs());
    if (reasons.outcomeUntilMs !== undefined) deadlines.set("outcome", reasons.outcomeUntilMs);
    this.#awaitApprovals();
    keepAlive(this.#delivery.deliver());
  }

  /** Sets when the first open question is to be closed, as long as nobody goes on. */
  #awaitApprovals(): void {
    const { approvals, store } = this.#run;
    const expiries = approvals.pending().map(({ expiresAtMs }) => expiresAtMs);
    if (expiries.length === 0 || !store.lives().isWaiting) return;
    this.#ports.deadlines.set("approval", Math.min(...expiries));
  }

  /** The run has ended in this life. */
  #settleDown(): void {
    this.#tidyUp();
    this.#ports.keepAlive(this.#delivery.deliver());
  }

  #expireOutcomes(): void {
    const { clock, deadlines } = this.#ports;
    deadlines.clear("outcome");
    expireOutcomes(this.#run, clock.nowMs());
    this.goOn();
  }

  /** Sets what a finished run has still before it. */
  #tidyUp(): void {
    const { store, outbox } = this.#run;
    const { env, deadlines, clock } = this.#ports;
    deadlines.clear("watchdog", "wall_clock", "outcome", "approval");
    if (!outbox.isEmpty() && !deadlines.has("outbox")) deadlines.set("outbox", clock.nowMs());
    if (deadlines.has("forget")) return;
    const { runMs, keyMs } = requireEnv(env).lifetimes;
    const endedMs = store.progress().endedMs ?? clock.nowMs();
    deadlines.set("retention", endedMs + runMs);
    deadlines.set("forget", endedMs + Math.max(runMs, keyMs));
  }
}
