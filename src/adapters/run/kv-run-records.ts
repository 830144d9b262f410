import * as v from "valibot";
import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { RunRecord, RunRecords } from "../../capabilities/run-records.ts";
import type { AiEvent, LoggedEvent } from "../../protocol/run/event.ts";

/** Longest record that KV gets; only the run's object has a longer one. Unit: UTF-16 code units. */
const MAX_RECORD_CHARS = 512 * 1024;
/**
 * Version of the stored record. It is raised when a stored event changes its meaning, so that no
 * encoder reads events that it does not know. A record of another version counts as absent, such as
 * the first ones, which held the encoded stream, and the second ones, which held plain hashes.
 */
const RECORD_VERSION = 3;

const isEvent = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "type" in value;

/** Events of one epoch follow each other, so the record stores no position of each. */
const storedRecord = v.strictObject({
  version: v.literal(RECORD_VERSION),
  /** Fingerprint of the request's hash. */
  requestHash: v.string(),
  run: v.strictObject({
    runId: v.custom<RunRecord["run"]["runId"]>((value) => typeof value === "string"),
    workflowId: v.custom<RunRecord["run"]["runId"]>((value) => typeof value === "string"),
    model: v.string(),
    createdMs: v.number(),
  }),
  epochs: v.array(
    v.strictObject({ epoch: v.number(), events: v.array(v.custom<AiEvent>(isEvent)) }),
  ),
});
type StoredRecord = v.InferOutput<typeof storedRecord>;

/** How long published records are kept; 60 seconds or more, which `checkEnv` ensures. */
export interface KeptFor {
  readonly runSeconds: number;
  readonly keySeconds: number;
}

/**
 * Keeps finished runs in KV under `run/<run id>`, whose id is bound to its tenant, and outcomes of
 * operations under `invocation/<tenant>/<fingerprint of the idempotency key>`. Of request, key and
 * arguments KV holds fingerprints only.
 */
export function createKvRunRecords(
  kv: KVNamespace,
  fingerprints: Fingerprints,
  kept: KeptFor,
): RunRecords {
  const put = async (key: string, text: string, seconds: number): Promise<boolean> => {
    try {
      await kv.put(key, text, { expirationTtl: seconds });
      return true;
    } catch {
      return false;
    }
  };
  return {
    async publish(run, finished) {
      const requestHash = await fingerprints.of(run, finished.requestHash);
      const text = JSON.stringify(toStored({ ...finished, requestHash }));
      if (text.length > MAX_RECORD_CHARS) return true;
      return put(`run/${run.runId}`, text, kept.runSeconds);
    },
    async publishInvocation(tenantId, idempotencyKey, notice) {
      const run = { tenantId, runId: notice.runId };
      const name = `invocation/${tenantId}/${await fingerprints.of(run, idempotencyKey)}`;
      const payloadHash = await fingerprints.of(run, notice.payloadHash);
      return put(name, JSON.stringify({ ...notice, payloadHash }), kept.keySeconds);
    },
    async remove({ runId }) {
      try {
        await kv.delete(`run/${runId}`);
        return true;
      } catch {
        return false;
      }
    },
    async find(run, requestHash) {
      try {
        const found = v.safeParse(storedRecord, await kv.get(`run/${run.runId}`, "json"));
        if (!found.success) return undefined;
        const isOther = found.output.requestHash !== (await fingerprints.of(run, requestHash));
        return isOther ? "other_request" : fromStored(found.output, requestHash);
      } catch {
        return undefined;
      }
    },
  };
}

function toStored({ requestHash, run, events }: RunRecord): StoredRecord {
  const epochs: { readonly epoch: number; readonly events: AiEvent[] }[] = [];
  for (const { event, position } of events) {
    const last = epochs.at(-1);
    if (last?.epoch === position.epoch) last.events.push(event);
    else epochs.push({ epoch: position.epoch, events: [event] });
  }
  return { version: RECORD_VERSION, requestHash, run, epochs };
}

/** Sequence numbers start at 1 and have no gap. */
function fromStored({ run, epochs }: StoredRecord, requestHash: string): RunRecord {
  const events: LoggedEvent[] = [];
  for (const { epoch, events: ofEpoch } of epochs) {
    for (const event of ofEpoch) {
      events.push({ event, position: { epoch, seq: events.length + 1 } });
    }
  }
  return { requestHash, run, events };
}
