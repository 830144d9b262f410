import type { Clock } from "../../src/capabilities/system.ts";
import type { RunRecords } from "../../src/capabilities/run.ts";
import type { TenantInbox } from "../../src/capabilities/tenant.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import type { RunDeadlines } from "../deadlines.ts";
import { streamedRunOf, type OpenRun } from "./open-run.ts";
import type { Publication } from "./outbox.ts";

/** What is not delivered is tried again once as much time has passed as since the run ended, within these. */
const MIN_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** How long the tenant's object may take to answer. */
const MAX_ANSWER_MS = 10_000;
/** How long a notice waits for company: a short run costs its tenant's object one message. */
const NOTICES_EVERY_MS = 1_000;

export interface DeliveryPorts {
  readonly recordsOf: () => RunRecords;
  readonly inboxOf: (tenantId: TenantId) => TenantInbox;
  readonly clock: Clock;
  readonly deadlines: RunDeadlines;
  /** Keeps the object alive for as long as the work takes. */
  readonly keepAlive: (work: Promise<unknown>) => void;
}

/**
 * Delivers what waits in a run's outbox: publishes in KV, and tells the tenant's object.
 * Ownership: one per claimed run in memory. The only one that removes entries.
 */
export class OutboxDelivery {
  readonly #run: OpenRun;
  readonly #ports: DeliveryPorts;
  #isPublishing = false;
  #isTelling = false;
  #soon: (() => void) | undefined;
  #notBeforeMs = 0;

  constructor(run: OpenRun, ports: DeliveryPorts) {
    this.#run = run;
    this.#ports = ports;
    run.outbox.listen(() => this.#tellSoon());
  }

  /**
   * Delivers all there is. The deadline stands before anything is sent, so that neither a failure nor a
   * crash keeps it from being tried again. What one recipient does not take holds back nothing of the other.
   */
  async deliver(): Promise<void> {
    const { clock, deadlines } = this.#ports;
    const { outbox, store } = this.#run;
    this.#soon?.();
    this.#soon = undefined;
    if (outbox.isEmpty()) return deadlines.clear("outbox");
    const nowMs = clock.nowMs();
    const sinceMs = nowMs - (store.progress().endedMs ?? nowMs);
    const delayMs = Math.min(Math.max(sinceMs, MIN_RETRY_MS), MAX_RETRY_MS);
    deadlines.set("outbox", nowMs + delayMs);
    await Promise.all([this.#publish(), this.#tell()]);
  }

  /** Tells the tenant's object what the last life left untold. */
  takeUp(): void {
    if (this.#run.outbox.hasNotices()) this.#tellSoon();
  }

  /**
   * Lets a notice of a run that goes wait for company: whoever finds its loop dead tells the rest. That of a run that rests
   * leaves with the turn, under a deadline that was written with it.
   */
  #tellSoon(): void {
    const { clock, deadlines, keepAlive } = this.#ports;
    if (this.#soon) return;
    const nowMs = clock.nowMs();
    const isWatched = deadlines.has("watchdog");
    if (!isWatched && !deadlines.has("outbox")) deadlines.set("outbox", nowMs + MIN_RETRY_MS);
    const delayMs = Math.max(NOTICES_EVERY_MS, this.#notBeforeMs - nowMs);
    this.#soon = clock.schedule(isWatched ? delayMs : 0, () => {
      this.#soon = undefined;
      keepAlive(deadlines.has("watchdog") ? this.#tell() : this.deliver());
    });
  }

  /** Only one at a time: two could remove what one of them alone has seen. */
  async #publish(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    await this.#publishAll().finally(() => (this.#isPublishing = false));
    this.#clearDeadline();
  }

  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    await this.#tellAll().finally(() => (this.#isTelling = false));
    this.#clearDeadline();
  }

  #clearDeadline(): void {
    const { deadlines } = this.#ports;
    if (deadlines.has("outbox") && this.#run.outbox.isEmpty()) deadlines.clear("outbox");
  }

  /** Publishes what waits, in order, and what comes meanwhile; stops at what cannot be published now. */
  async #publishAll(): Promise<void> {
    const { outbox } = this.#run;
    const records = this.#ports.recordsOf();
    for (let next = outbox.first(); next; next = outbox.first()) {
      if (!(await this.#send(next, records))) return;
      outbox.remove(next.seq);
    }
  }

  #send({ kind, number }: Publication, records: RunRecords): Promise<boolean> {
    return kind === "run"
      ? publishRun(this.#run, records)
      : publishInvocation(this.#run, records, number);
  }

  /** Tells what waits, in order, one batch after the other; stops at the first that does not arrive. */
  async #tellAll(): Promise<void> {
    const { outbox, store } = this.#run;
    const { runId, owner } = store.identity();
    const inbox = this.#ports.inboxOf(owner.tenantId);
    for (let batch = outbox.notices(); batch.length > 0; batch = outbox.notices()) {
      if (!(await this.#inTime(inbox.receive(runId, batch)))) return this.#tellLater();
      outbox.removeNotices(batch.at(-1)?.seq ?? 0);
    }
  }

  /**
   * Answers false for what takes too long: the object's alarm waits for a delivery, and so does whatever else is
   * due. What arrives all the same counts once.
   */
  async #inTime(answer: Promise<boolean>): Promise<boolean> {
    let cancel = (): void => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = this.#ports.clock.schedule(MAX_ANSWER_MS, () => resolve(false));
    });
    return Promise.race([answer, late]).finally(cancel);
  }

  /** A tenant's object that is down is left in peace for a while. */
  #tellLater(): void {
    this.#notBeforeMs = this.#ports.clock.nowMs() + MIN_RETRY_MS;
    if (this.#ports.deadlines.has("watchdog")) this.#tellSoon();
  }
}

async function publishRun({ store, log }: OpenRun, records: RunRecords): Promise<boolean> {
  const { runId, requestHash } = store.identity();
  // A run that has shrunk in the meantime has no events left.
  if (requestHash === undefined || !store.claimed()) return true;
  const events = [...log.entries()];
  return records.publish(runId, { requestHash, run: streamedRunOf(store), events });
}

async function publishInvocation(
  { store, invocations }: OpenRun,
  records: RunRecords,
  number: Publication["number"],
): Promise<boolean> {
  const claim = store.claimed();
  const record = invocations.find(number);
  if (!claim || !record?.binding || !record.end) return true;
  const { binding, state, end } = record;
  return records.publishInvocation(claim.principal.tenantId, binding.idempotencyKey, {
    runId: claim.runId,
    invocationId: `inv_${number}`,
    toolId: record.name,
    version: binding.version,
    state,
    payloadHash: binding.payloadHash,
    outcome: end.observation.status.taxonomy_class,
    endedAtMs: end.endedAtMs,
  });
}
