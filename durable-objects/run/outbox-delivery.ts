import type { Clock } from "../../src/capabilities/clock.ts";
import type { EventEncoder } from "../../src/capabilities/event-encoder.ts";
import type { RunRecords } from "../../src/capabilities/run-records.ts";
import type { Deadlines } from "./deadlines.ts";
import type { OpenRun } from "./open-run.ts";
import type { Outgoing } from "./outbox.ts";

/** What is not delivered is tried again once as much time has passed as since the run ended, within these. */
const MIN_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;

export interface DeliveryPorts {
  readonly recordsOf: () => RunRecords;
  readonly encoder: EventEncoder;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
}

/**
 * Publishes what waits in a run's outbox.
 * Ownership: one per claimed run in memory. The only one that removes entries.
 */
export class OutboxDelivery {
  readonly #run: OpenRun;
  readonly #ports: DeliveryPorts;
  #isOnItsWay = false;

  constructor(run: OpenRun, ports: DeliveryPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  /**
   * Publishes all there is. The deadline stands before anything is sent, so that neither a failure nor a
   * crash keeps it from being tried again.
   */
  async deliver(): Promise<void> {
    const { clock, deadlines } = this.#ports;
    const { outbox, store } = this.#run;
    if (outbox.isEmpty()) return deadlines.clear("outbox");
    const nowMs = clock.nowMs();
    const sinceMs = nowMs - (store.progress().endedMs ?? nowMs);
    const delayMs = Math.min(Math.max(sinceMs, MIN_RETRY_MS), MAX_RETRY_MS);
    deadlines.set("outbox", nowMs + delayMs);
    // Two at a time could remove what only one of them has seen.
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    try {
      await this.#sendAll();
      if (outbox.isEmpty()) deadlines.clear("outbox");
    } finally {
      this.#isOnItsWay = false;
    }
  }

  /** Sends what waits, in order, and what comes meanwhile; stops at what cannot be published now. */
  async #sendAll(): Promise<void> {
    const { outbox } = this.#run;
    const records = this.#ports.recordsOf();
    for (let next = outbox.first(); next; next = outbox.first()) {
      if (!(await this.#send(next, records))) return;
      outbox.remove(next.seq);
    }
  }

  #send({ kind, number }: Outgoing, records: RunRecords): Promise<boolean> {
    return kind === "run"
      ? publishRun(this.#run, records, this.#ports.encoder)
      : publishInvocation(this.#run, records, number);
  }
}

async function publishRun(
  { store, log }: OpenRun,
  records: RunRecords,
  encoder: EventEncoder,
): Promise<boolean> {
  const { runId, requestHash } = store.identity();
  // A run that has shrunk in the meantime has no events left.
  if (requestHash === undefined || !store.claimed()) return true;
  const stream = Array.from(log.entries(), ({ event, position }) =>
    encoder.encode(event, position),
  ).join("");
  return records.publish(runId, { requestHash, stream });
}

async function publishInvocation(
  { store, invocations }: OpenRun,
  records: RunRecords,
  number: Outgoing["number"],
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
