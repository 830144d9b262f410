import type { Clock } from "../../src/capabilities/system.ts";
import type { UndoneCall } from "../../src/protocol/run/direct-call.ts";
import type { RunGateway } from "../../src/capabilities/run.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import type { RawEnv } from "../../src/env.ts";
import type { RunRecords } from "../../src/capabilities/run-records.ts";
import type { NoticeReceiver } from "../../src/capabilities/tenant.ts";
import type { RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { RunDeadlines } from "../deadlines.ts";
import { streamedRunOf, type OpenRun } from "./open-run.ts";
import { noticeWithFingerprint, type FingerprintOf } from "../../src/run/outgoing-hashes.ts";
import { pageOf } from "../../src/run/turn-page.ts";
import { statusOfUndo } from "../../src/run/undo/standing.ts";
import type { Publication } from "./logged-state.ts";
import { invocationIdOf } from "../../src/protocol/invocation/id.ts";

/** Bounds of the retry delay. Between them, the delay is the time since the run ended. */
const MIN_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** Timeout of one delivery to the tenant's object. */
const MAX_ANSWER_MS = 10_000;
/** Delay of a notice, so that several notices share one message. A short run sends one message. */
const NOTICES_EVERY_MS = 1_000;

export interface DeliveryPorts {
  readonly recordsOf: () => RunRecords;
  readonly runs: () => Pick<RunGateway, "of">;
  readonly noticesOf: (tenantId: TenantId) => NoticeReceiver;
  readonly fingerprintOf: FingerprintOf;
  readonly env: RawEnv;
  readonly deployment: Deployment;
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  /** Keeps the object alive until the work is done. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

/**
 * Delivers a run's outbox: publishes in KV, and sends notices to the tenant's object. Sends the
 * spans of the run, where the deployment has traces.
 * Ownership: one per claimed run in memory. Only this class removes entries.
 */
export class OutboxDelivery {
  readonly #run: OpenRun;
  readonly #ports: DeliveryPorts;
  #isPublishing = false;
  #isSendingNotices = false;
  #cancelScheduled: (() => void) | undefined;
  #notBeforeMs = 0;

  constructor(run: OpenRun, ports: DeliveryPorts) {
    this.#run = run;
    this.#ports = ports;
    run.outbox.listen(() => this.#scheduleNotices());
  }

  /**
   * Delivers all entries. A deadline is set before anything is sent, so a failure or a crash leads
   * to a retry; while the watchdog is set, a crash leads to a retry anyway. A recipient that fails
   * does not hold back the other one.
   */
  async deliver(): Promise<void> {
    const { deadlines } = this.#ports;
    const { outbox } = this.#run;
    this.#cancelScheduled?.();
    this.#cancelScheduled = undefined;
    if (outbox.isEmpty()) return deadlines.clear("outbox");
    if (!deadlines.has("watchdog")) this.#retryLater();
    await Promise.all([this.#publish(), this.#sendNotices()]);
    if (!outbox.isEmpty()) this.#retryLater();
  }

  /**
   * Delivers what a run leaves at its end: all entries, and its spans. That it was delivered is
   * stored at the end of the last turn, so that it shares a commit with what the caller stores.
   */
  async deliverEnd(): Promise<void> {
    const { outbox } = this.#run;
    outbox.hold();
    await Promise.all([this.deliver(), this.#sendTraces()]).finally(() => outbox.store());
  }

  /** Handles a deadline that is due. */
  async handle(name: "outbox" | "traces"): Promise<void> {
    await (name === "outbox" ? this.deliver() : this.#sendTraces());
  }

  /**
   * Plans to send the spans of an ended run, unless this incarnation has tried to. False: the end
   * of the run is planned already.
   */
  planEnd(): boolean {
    if (this.#ports.deadlines.has("forget")) return false;
    this.#ports.deployment.traces?.plan(this.#run, this.#ports);
    return true;
  }

  /** A collector that is away gets the spans later. */
  #sendTraces(): Promise<void> | void {
    const { deployment, deadlines } = this.#ports;
    return deployment.traces?.send(this.#run, this.#ports) ?? deadlines.clear("traces");
  }

  #retryLater(): void {
    const { clock, deadlines } = this.#ports;
    const nowMs = clock.nowMs();
    const sinceMs = nowMs - (this.#run.store.progress().endedMs ?? nowMs);
    const delayMs = Math.min(Math.max(sinceMs, MIN_RETRY_MS), MAX_RETRY_MS);
    deadlines.set("outbox", nowMs + delayMs);
  }

  /** Sends the notices that an earlier incarnation did not deliver. */
  resume(): void {
    if (this.#run.outbox.hasNotices()) this.#scheduleNotices();
  }

  /**
   * Sends notices a little later while a loop is running; after a crash the watchdog sends them.
   * Without a loop the notice leaves at the end of the turn. A deadline commits with this notice,
   * so a crash leads to a retry.
   */
  #scheduleNotices(): void {
    const { clock, deadlines, keepAlive } = this.#ports;
    if (this.#cancelScheduled) return;
    const nowMs = clock.nowMs();
    const isWatched = deadlines.has("watchdog");
    if (!isWatched && !deadlines.has("outbox")) deadlines.set("outbox", nowMs + MIN_RETRY_MS);
    const delayMs = Math.max(NOTICES_EVERY_MS, this.#notBeforeMs - nowMs);
    this.#cancelScheduled = clock.schedule(isWatched ? delayMs : 0, () => {
      this.#cancelScheduled = undefined;
      keepAlive(deadlines.has("watchdog") ? this.#sendNotices() : this.deliver());
    });
  }

  /** Runs once at a time: of two runs, one could remove an entry that only the other has read. */
  async #publish(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    await this.#publishAll().finally(() => (this.#isPublishing = false));
    this.#clearDeadline();
  }

  async #sendNotices(): Promise<void> {
    if (this.#isSendingNotices) return;
    this.#isSendingNotices = true;
    await this.#sendAllNotices().finally(() => (this.#isSendingNotices = false));
    this.#clearDeadline();
  }

  #clearDeadline(): void {
    const { deadlines } = this.#ports;
    if (deadlines.has("outbox") && this.#run.outbox.isEmpty()) deadlines.clear("outbox");
  }

  /** Publishes all entries in order, new ones included; stops at the first that fails. */
  async #publishAll(): Promise<void> {
    const { outbox } = this.#run;
    const records = this.#ports.recordsOf();
    for (let next = outbox.first(); next; next = outbox.first()) {
      if (!(await this.#publishOne(next, records))) return;
      outbox.remove(next.seq);
    }
  }

  #publishOne({ invocation }: Publication, records: RunRecords): Promise<boolean> {
    if (invocation !== null) return publishInvocation(this.#run, records, invocation);
    const claim = this.#run.store.claimed();
    // A run that has shrunk meanwhile has nothing left to tell.
    if (!claim) return Promise.resolve(true);
    const { call, workflowId } = claim;
    if (call?.undoes) return this.#reportUndo(call.undoes);
    return this.#publishEnd(workflowId, records);
  }

  /** Publishes the end of a run. Answers false when it must retry. */
  async #publishEnd(workflowId: RunId | undefined, records: RunRecords): Promise<boolean> {
    const isKept = workflowId === undefined || (await this.#deliverPage(workflowId));
    return isKept && publishRun(this.#run, records);
  }

  /** Gives the conversation what the run added to it. Answers false when it must retry. */
  #deliverPage(conversationId: RunId): Promise<boolean> {
    const answer = pageOf(this.#run);
    if (answer.kind !== "page") return Promise.resolve(true);
    const { runId } = this.#run.store.identity();
    return this.#confirm(this.#ports.runs().of(conversationId).keepTurn(runId, answer.delivered));
  }

  /** Tells the object of the run whose call this run undoes. Answers false when it must retry. */
  #reportUndo({ runId: undone, invocation }: UndoneCall): Promise<boolean> {
    const { store, invocations } = this.#run;
    const status = statusOfUndo(invocations.find(1));
    const report = { invocation, runId: store.identity().runId, status };
    return this.#confirm(this.#ports.runs().of(undone).undone(report));
  }

  /** Waits for another run's object. Answers false when it failed. */
  #confirm(told: Promise<void>): Promise<boolean> {
    return this.#withTimeout(
      told.then(
        () => true,
        () => false,
      ),
    );
  }

  /** Sends all notices in order, batch by batch; stops at the first batch that fails. */
  async #sendAllNotices(): Promise<void> {
    const { outbox, store } = this.#run;
    const { fingerprintOf, noticesOf } = this.#ports;
    const { runId, owner } = store.identity();
    const inbox = noticesOf(owner.tenantId);
    for (let batch = outbox.notices(); batch.length > 0; batch = outbox.notices()) {
      const sent = await Promise.all(
        batch.map((notice) => noticeWithFingerprint(notice, fingerprintOf)),
      );
      if (!(await this.#withTimeout(inbox.receive(runId, sent)))) return this.#backOff();
      outbox.removeNotices(batch.at(-1)?.seq ?? 0);
    }
  }

  /**
   * Answers false for a delivery that takes too long, because the alarm and all other deadlines
   * wait for the delivery. A notice that arrives after the timeout counts once all the same.
   */
  async #withTimeout(answer: Promise<boolean>): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = this.#ports.clock.schedule(MAX_ANSWER_MS, () => resolve(false));
    });
    return Promise.race([answer, late]).finally(cancel);
  }

  /** Delays the next attempt, because the tenant's object failed. */
  #backOff(): void {
    this.#notBeforeMs = this.#ports.clock.nowMs() + MIN_RETRY_MS;
    if (this.#ports.deadlines.has("watchdog")) this.#scheduleNotices();
  }
}

async function publishRun({ store, log }: OpenRun, records: RunRecords): Promise<boolean> {
  const { runId, requestHash, owner } = store.identity();
  if (requestHash === undefined) return true;
  const events = [...log.entries()];
  const { tenantId } = owner;
  return records.publish({ tenantId, runId }, { requestHash, run: streamedRunOf(store), events });
}

async function publishInvocation(
  { store, invocations }: OpenRun,
  records: RunRecords,
  number: number,
): Promise<boolean> {
  const claim = store.claimed();
  const record = invocations.find(number);
  if (!claim || !record?.binding || !record.end) return true;
  const { binding, state, end } = record;
  return records.publishInvocation(claim.principal.tenantId, binding.idempotencyKey, {
    runId: claim.runId,
    invocationId: invocationIdOf(number),
    toolId: record.name,
    version: binding.version,
    state,
    payloadHash: binding.payloadHash,
    outcome: end.observation.status.taxonomy_class,
    endedAtMs: end.endedAtMs,
  });
}
