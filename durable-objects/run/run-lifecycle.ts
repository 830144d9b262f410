import { composeFingerprints, composeRunGateway, composeVerifying } from "../../src/compose/run.ts";
import { requireEnv } from "../../src/env.ts";
import { composeRunRecords } from "../../src/compose/stores.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import { endInterrupted } from "../../src/loop/end-interrupted.ts";
import { readProgress } from "../../src/loop/run-memory.ts";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import type { RunDeadline } from "../deadlines.ts";
import { fingerprintsOf } from "../../src/run/outgoing-hashes.ts";
import { OutboxDelivery } from "./outbox-delivery.ts";
import { readClaimAndMemory, type ClaimAndMemory, type OpenRun } from "./open-run.ts";
import { nextMove, type RunMove, type RunTrigger } from "../../src/run/next-move.ts";
import { planRecovery } from "../../src/run/plan-recovery.ts";
import {
  awaitApprovals,
  deliveryDelayMs,
  finalDeadlines,
  setWaitDeadlines,
  WATCH_EVERY_MS,
} from "./run-deadlines.ts";
import { RunActivity, type ActivityPorts, type LoopEnd } from "./run-activity.ts";
import { RunVerifications } from "../../src/run/verification/run-verifications.ts";
import { RunRetention, type KeptConversation } from "./run-retention.ts";
import { waitReasonsOf } from "../../src/run/wait-reasons.ts";
import { expireOutcomes } from "../../src/run/outcomes/resolve.ts";

export interface LifecyclePorts extends ActivityPorts {
  readonly forget: () => Promise<void>;
  readonly conversation: KeptConversation;
}

/**
 * Manages one run through all incarnations of its object. Starts the loop, recovers the run after a
 * crash, lets the run wait, stops it, publishes its result and deletes it.
 * Ownership: one per claimed run in memory. It holds no agent logic.
 */
export class RunLifecycle {
  readonly #run: OpenRun;
  readonly #ports: LifecyclePorts;
  readonly #activity: RunActivity;
  readonly #delivery: OutboxDelivery;
  readonly #verifications: RunVerifications;
  readonly retention: RunRetention;

  constructor(run: OpenRun, ports: LifecyclePorts) {
    this.#run = run;
    this.#ports = ports;
    this.#activity = new RunActivity(run, ports);
    const { deadlines, deployment, env } = ports;
    this.#verifications = new RunVerifications(run, {
      ...ports,
      schedule: (atMs) =>
        atMs === undefined ? deadlines.clear("verification") : deadlines.set("verification", atMs),
      compose: ({ runId, principal: { tenantId } }) =>
        composeVerifying(env, { deployment, runId, tenantId }),
      keptMs: () => requireEnv(env).lifetimes.runMs,
    });
    this.#delivery = new OutboxDelivery(run, {
      ...ports,
      recordsOf: () => composeRunRecords(requireEnv(env)),
      runs: () => composeRunGateway(env),
      noticesOf: (tenantId) => composeTenants(requireEnv(env).tenants).noticesOf(tenantId),
      fingerprintOf: fingerprintsOf(run.store, () => composeFingerprints(env)),
    });
    this.retention = new RunRetention(run, {
      ...ports,
      deliver: () => this.#delivery.deliver(),
      giveUp: () => this.#verifications.giveUp(),
    });
  }

  /**
   * Starts a run that was just claimed with its first deadlines, so the watchdog recovers the run
   * after any crash. `from` spares the first incarnation a read of its own log.
   */
  start(from?: ClaimAndMemory): void {
    this.#run.store.log.batch(() => {
      this.#run.notices.started();
      this.#launch(from);
      // Stores the start event together with the claim.
      this.#run.journal.flush();
    });
  }

  /** Continues a run that an earlier incarnation left. */
  wake(): void {
    this.#verifications.plan();
    this.#moveOn("woken");
  }

  /** Resolves once the run has ended or waits. */
  async untilRest(): Promise<void> {
    await this.#activity.untilRest();
  }

  /** Stops the run; resolves once it has ended. Contract: the first reason stays; idempotent. */
  async stop(reason: StopReason): Promise<void> {
    this.#requestStop(reason);
    await this.untilRest();
  }

  #requestStop(reason: StopReason): void {
    const { store, journal } = this.#run;
    if (journal.hasEnded) return;
    const incarnations = store.incarnations();
    store.saveIncarnations({ ...incarnations, stop: incarnations.stop ?? reason });
    this.#moveOn("stopped");
  }

  /**
   * Continues a run that waits, after a decision or a report, or for a planned attempt. Contract:
   * no effect while a loop is running, because the loop reads the decision itself.
   */
  resume(): void {
    this.#moveOn("answered");
  }

  #moveOn(trigger: RunTrigger): void {
    this.#perform(nextMove({ run: this.#run, loop: this.#activity }, trigger));
  }

  #perform(move: RunMove): void {
    switch (move) {
      case "nothing":
        return;
      case "recover":
        return this.#recover();
      case "recover_in_new_epoch":
        this.#beginEpoch();
        return this.#recover();
      case "recover_at_once":
        return this.#recover({ isRequested: true });
      case "relaunch":
        return this.#relaunch();
      case "stop_loop":
        return this.#activity.stop();
      case "watch":
        return this.#watch();
      case "end_watch":
        return this.#ports.deadlines.clear("watchdog");
      case "abandon":
        return this.#ports.abandon("the loop is stuck");
      case "set_final_deadlines":
        return this.#setFinalDeadlines();
    }
  }

  /** Closes approvals that have expired. The alarm and each decision call this method. */
  expireApprovals(): void {
    const { clock, deadlines } = this.#ports;
    deadlines.clear("approval");
    if (!this.#run.approvals.expire(clock.nowMs())) return awaitApprovals(this.#run, deadlines);
    this.resume();
  }

  /**
   * Handles all deadlines that are due. Contract: a deadline that is handled twice has its effect
   * once. Fails: throws the first failure of a deadline, after all other deadlines are handled.
   */
  async handleDueDeadlines(): Promise<void> {
    const { clock, deadlines } = this.#ports;
    const failures: unknown[] = [];
    for (const name of deadlines.due(clock.nowMs())) {
      if (name === "forget" && this.retention.isOver) return this.#ports.forget();
      try {
        await this.#handle(name);
      } catch (cause) {
        failures.push(cause);
      }
    }
    if (failures.length > 0) throw new Error("a deadline failed", { cause: failures[0] });
  }

  async #handle(name: RunDeadline): Promise<void> {
    const { clock, deadlines } = this.#ports;
    switch (name) {
      case "watchdog":
        return this.#moveOn("watched");
      case "wall_clock":
        deadlines.clear(name);
        return this.#requestStop("time");
      case "outcome":
        deadlines.clear(name);
        expireOutcomes(this.#run, clock.nowMs());
        return this.resume();
      case "retry":
        deadlines.clear(name);
        return this.resume();
      case "verification":
        return this.#verifications.verifyDue();
      case "approval":
        return this.expireApprovals();
      case "outbox":
      case "traces":
        return this.#delivery.handle(name);
      case "retention":
        return this.retention.shrink();
      case "erasure":
        return this.retention.continueErasure();
      case "forget":
        return this.retention.postpone();
    }
  }

  #watch(): void {
    this.#delivery.resume();
    // Tells the tenant's object what the run stores meanwhile.
    this.#run.notices.updated();
    this.#setWatchdog(WATCH_EVERY_MS);
  }

  #setWatchdog(delayMs: number): void {
    const { clock, deadlines } = this.#ports;
    deadlines.set("watchdog", clock.nowMs() + delayMs);
  }

  /**
   * Begins a new epoch at once, even when the loop starts later. Readers may have seen deltas that
   * the crash lost, and no later event may reuse the ids of those deltas.
   */
  #beginEpoch(): void {
    const { store, log } = this.#run;
    const epoch = store.incarnations().epoch + 1;
    store.saveIncarnations({ ...store.incarnations(), epoch });
    log.beginEpoch(epoch);
  }

  /** Starts the loop of an unfinished run again, as planned; at once when the run must stop. */
  #recover({ isRequested = false } = {}): void {
    const { store, log } = this.#run;
    const { clock, deadlines } = this.#ports;
    this.#delivery.resume();
    const plan = planRecovery(store.incarnations(), readProgress(log.readAll()));
    const notBeforeMs = deadlines.at("watchdog") ?? 0;
    if (plan.isRepeated && !isRequested && notBeforeMs > clock.nowMs()) return;
    store.saveIncarnations(plan.incarnations);
    this.#setWatchdog(Math.min(plan.backoffMs, WATCH_EVERY_MS));
    if (plan.mayLaunch) return this.#launch();
    endInterrupted(this.#run, readClaimAndMemory(this.#run), clock);
    this.#finish();
  }

  /** Starts the loop of a waiting run. The run lost no event, so its epoch stays. */
  #relaunch(): void {
    const { store } = this.#run;
    const { clock, deadlines } = this.#ports;
    store.saveIncarnations({ ...store.incarnations(), isWaiting: false });
    this.#run.feed.resume();
    this.#run.notices.updated();
    deadlines.clear("outcome", "approval", "retry");
    deadlines.resume("wall_clock", clock.nowMs());
    this.#setWatchdog(WATCH_EVERY_MS);
    this.#launch();
  }

  #launch(from = readClaimAndMemory(this.#run)): void {
    this.#activity.launch(from, (how) => this.#onLoopEnd(how));
  }

  /** Handles the end of the loop: the run has ended, or waits. */
  #onLoopEnd(how: LoopEnd): void {
    const { store, journal } = this.#run;
    const { clock, deadlines, keepAlive } = this.#ports;
    if (how === "ended") return this.#finish();
    journal.flush();
    const reasons = waitReasonsOf(this.#run);
    if (!reasons) return this.#relaunch();
    journal.append([{ type: "run_waiting", usage: store.progress().usage }]);
    journal.flush();
    store.saveIncarnations({ ...store.incarnations(), isWaiting: true });
    this.#run.feed.rest();
    this.#run.notices.waits();
    setWaitDeadlines(this.#run, deadlines, { ...reasons, nowMs: clock.nowMs() });
    keepAlive(this.#delivery.deliver());
  }

  /**
   * Delivers the outbox of a run that has just ended, after its last byte has left. Until then the
   * watchdog stays, so a crash leads to a delivery by the alarm.
   */
  #finish(): void {
    const { clock, keepAlive } = this.#ports;
    const delayMs = deliveryDelayMs(clock.nowMs());
    const later = new Promise<void>((resolve) => void clock.schedule(delayMs, resolve));
    keepAlive(later.then(() => this.#delivery.deliverEnd()).then(() => this.#setFinalDeadlines()));
  }

  /** Sets the deadlines of a finished run. */
  #setFinalDeadlines(): void {
    const { env, deadlines, clock } = this.#ports;
    const { lifetimes } = requireEnv(env);
    const isFirst = this.#delivery.planEnd();
    deadlines.change(finalDeadlines(this.#run, { lifetimes, nowMs: clock.nowMs() }));
    deadlines.arm({ exactly: isFirst });
  }
}
