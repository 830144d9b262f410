import type { EventEncoder } from "../../src/capabilities/event-encoder.ts";
import type { RunRecords } from "../../src/capabilities/run-records.ts";
import type { OpenRun } from "./open-run.ts";
import type { Outgoing } from "./outbox.ts";

/** Publishes what waits, in order; answers false as soon as something cannot be published now. */
export async function deliverOutbox(
  run: OpenRun,
  records: RunRecords,
  encoder: EventEncoder,
): Promise<boolean> {
  for (const outgoing of run.outbox.all()) {
    const { kind, number, seq } = outgoing;
    const isDelivered =
      kind === "run"
        ? await publishRun(run, records, encoder)
        : await publishInvocation(run, records, number);
    if (!isDelivered) return false;
    run.outbox.remove(seq);
  }
  return true;
}

async function publishRun(
  { store, log }: OpenRun,
  records: RunRecords,
  encoder: EventEncoder,
): Promise<boolean> {
  const { runId, requestHash } = store.identity();
  if (requestHash === undefined) return true;
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
