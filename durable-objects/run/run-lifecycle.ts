import type { RunRecords } from "../../src/capabilities/run.ts";
import type { TenantInbox } from "../../src/capabilities/tenant.ts";
import { requireEnv } from "../../src/env.ts";
import { composeRunRecords } from "../../src/compose/stores.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { endInterrupted } from "../../src/loop/end-interrupted.ts";
import { readProgress } from "../../src/loop/run-memory.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import type { Settlement } from "../../src/protocol/invocation/record.ts";
import type { RunDeadline } from "../deadlines.ts";
import { OutboxDelivery } from "./outbox-delivery.ts";
import { readClaimAndMemory, type OpenRun } from "./open-run.ts";
import { planRecovery } from "./plan-recovery.ts";
import { RunActivity, type ActivityPorts, type LoopEnd } from "./run-activity.ts";
import { waitReasonsOf } from "./wait-reasons.ts";
import { expireOutcomes, settleOutcome } from "./settle-outcomes.ts";

/** Interval of the watchdog. */
const WATCH_EVERY_MS = 30_000;
/** Delay of the deletion while notices wait for delivery. */
const FORGET_RETRY_MS = 60_000;

export interface LifecyclePorts extends ActivityPorts {
  /** Deletes the run. */
  readonly forget: () => Promise<void>;
}

/**
 * Carries one run through all incarnations of its object: starts its loop, recovers it after a
 * crash, lets it wait, stops it, publishes its result, and deletes it.
 * Ownership: one per claimed run in memory. It holds no agent logic.
 */
export class RunLifecycle {
  readonly #run: OpenRun;
  readonly #ports: LifecyclePorts;
  readonly #activity: RunActivity;
  readonly #delivery: OutboxDelivery;

  constructor(run: OpenRun, ports: LifecyclePorts) {
    this.#run = run;
    this.#ports = ports;
    this.#activity = new RunActivity(run, ports);
    const recordsOf = (): RunRecords => composeRunRecords(requireEnv(ports.env));
    const inboxOf = (tenantId: TenantId): TenantInbox =>
      composeTenants(requireEnv(ports.env).tenants).inboxOf(tenantId);
    this.#delivery = new OutboxDelivery(run, { ...ports, recordsOf, inboxOf });
  }

  /**
   * Starts a run that was just claimed. The watchdog that recovers it commits together with the
   * claim.
   */
  start(): void {
    this.#watch(WATCH_EVERY_MS);
    this.#run.notices.started();
    this.#launch();
    // Stores the start event together with the claim.
    this.#run.journal.flush();
  }

  /**
   * Continues a run that an earlier incarnation left. A new epoch begins now, even when the loop
   * starts later: readers may have seen deltas that the crash lost, and no later event may have
   * their ids.
   */
  wake(): void {
    const { store, journal, log } = this.#run;
    if (journal.hasEnded) return this.#tidyUp();
    const incarnations = store.incarnations();
    if (incarnations.isWaiting) return;
    const epoch = incarnations.epoch + 1;
    store.saveIncarnations({ ...incarnations, epoch });
    log.beginEpoch(epoch);
    this.#recover();
    this.#delivery.takeUp();
  }

  /** Stops the run; resolves once it has ended. Contract: the first reason stays; idempotent. */
  async stop(asked: StopReason): Promise<void> {
    this.#askToStop(asked);
    await this.#activity.untilRest();
  }

  #askToStop(asked: StopReason): void {
    const { store, journal } = this.#run;
    if (journal.hasEnded) return;
    const incarnations = store.incarnations();
    const stop = incarnations.stop ?? asked;
    store.saveIncarnations({ ...incarnations, stop });
    if (this.#activity.isRunning) this.#activity.stop(stop);
    else if (incarnations.isWaiting) this.#relaunch();
    else this.#recover({ isAsked: true });
  }

  /** Resolves an unknown outcome as an operator reported. Contract: the first report stays. */
  settle(number: number, settlement: Settlement): "settled" | "not_awaited" {
    const answer = settleOutcome(this.#run, number, settlement);
    if (answer === "settled") this.goOn();
    return answer;
  }

  /**
   * Continues a waiting run after a decision or a report. A running loop finds the decision by
   * itself.
   */
  goOn(): void {
    if (this.#run.store.incarnations().isWaiting) this.#relaunch();
  }

  /** Closes approvals that have expired. Both the alarm and a late decision call this. */
  expireApprovals(): void {
    const { clock, deadlines } = this.#ports;
    const { approvals } = this.#run;
    deadlines.clear("approval");
    if (!approvals.expire(clock.nowMs())) return this.#awaitApprovals();
    this.goOn();
  }

  /**
   * Meets all deadlines that are due. Contract: a deadline that is met twice has its effect once.
   * Fails: throws what one deadline threw, after the others are met.
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
        // Notices for the tenant are still waiting.
        deadlines.set(name, this.#ports.clock.nowMs() + FORGET_RETRY_MS);
        return this.#delivery.deliver();
    }
  }

  /** Recovers a loop that died, and ends an incarnation whose loop is stuck. */
  #lookAfter(): void {
    const { deadlines, abandon } = this.#ports;
    if (this.#run.journal.hasEnded) return deadlines.clear("watchdog");
    this.#delivery.takeUp();
    if (!this.#activity.isRunning) return this.#recover();
    if (this.#activity.isStuck) return abandon("the loop is stuck");
    this.#watch(WATCH_EVERY_MS);
  }

  #watch(delayMs: number): void {
    const { clock, deadlines } = this.#ports;
    deadlines.set("watchdog", clock.nowMs() + delayMs);
  }

  /** Starts the loop of an unfinished run again, as planned; at once when a caller asks for it. */
  #recover({ isAsked = false } = {}): void {
    const { store, log } = this.#run;
    const { clock, deadlines } = this.#ports;
    const plan = planRecovery(store.incarnations(), readProgress(log.readAll()));
    const notBeforeMs = deadlines.at("watchdog") ?? 0;
    if (plan.isRepeated && !isAsked && notBeforeMs > clock.nowMs()) return;
    store.saveIncarnations(plan.incarnations);
    this.#watch(Math.min(plan.backoffMs, WATCH_EVERY_MS));
    if (plan.mayLaunch) return this.#launch();
    endInterrupted(this.#run, readClaimAndMemory(this.#run), clock);
    this.#settleDown();
  }

  /** Continues a run that waited. Nothing was lost, so its epoch stays. */
  #relaunch(): void {
    const { store } = this.#run;
    const { clock, deadlines } = this.#ports;
    store.saveIncarnations({ ...store.incarnations(), isWaiting: false });
    this.#run.notices.standing();
    deadlines.clear("outcome", "approval");
    deadlines.resume("wall_clock", clock.nowMs());
    this.#watch(WATCH_EVERY_MS);
    this.#launch();
  }

  #launch(): void {
    this.#activity.launch((how) => this.#rest(how));
  }

  /** The loop has come to rest: the run has ended, or waits for a person. */
  #rest(how: LoopEnd): void {
    const { store, journal } = this.#run;
    const { clock, deadlines, keepAlive } = this.#ports;
    if (how === "ended") return this.#settleDown();
    journal.flush();
    const reasons = waitReasonsOf(this.#run);
    if (!reasons) return this.#relaunch();
    if (reasons.needsApproval) {
      journal.append([{ type: "run_waiting", usage: store.progress().usage }]);
      journal.flush();
    }
    store.saveIncarnations({ ...store.incarnations(), isWaiting: true });
    this.#run.notices.standing();
    deadlines.clear("watchdog");
    deadlines.pause("wall_clock", clock.nowMs());
    if (reasons.outcomeUntilMs !== undefined) deadlines.set("outcome", reasons.outcomeUntilMs);
    this.#awaitApprovals();
    keepAlive(this.#delivery.deliver());
  }

  /** Sets the deadline of the first open approval, as long as the run waits. */
  #awaitApprovals(): void {
    const { approvals, store } = this.#run;
    const expiries = approvals.pending().map(({ expiresAtMs }) => expiresAtMs);
    if (expiries.length === 0 || !store.incarnations().isWaiting) return;
    this.#ports.deadlines.set("approval", Math.min(...expiries));
  }

  /** Ends the work of a run that ended in this incarnation. */
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

  /** Sets the deadlines of a finished run. */
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
