import * as v from "valibot";
import type { RunRecord, RunRecords } from "../capabilities/run.ts";
import { hashText } from "../protocol/json/canonical-hash.ts";
import type { AiEvent, LoggedEvent } from "../protocol/run/event.ts";

/** Longest record that KV gets; only the run's object has a longer one. Unit: UTF-16 code units. */
const MAX_RECORD_CHARS = 512 * 1024;
/** KV accepts no shorter time. */
const MIN_KEPT_SECONDS = 60;
/**
 * Version of the stored record. It is raised when a stored event changes its meaning, so that no
 * encoder reads events that it does not know. A record of another version counts as absent, such as
 * the first ones, which held the encoded stream.
 */
const RECORD_VERSION = 2;

const isEvent = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "type" in value;

/** Events of one epoch follow each other, so the record stores no position of each. */
const storedRecord = v.strictObject({
  version: v.literal(RECORD_VERSION),
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

/** How long published records are kept. */
export interface KeptFor {
  readonly runSeconds: number;
  readonly keySeconds: number;
}

/**
 * Keeps finished runs in KV under `run/<run id>`, whose id is bound to its tenant, and outcomes of
 * operations under `invocation/<tenant>/<hash of the idempotency key>`.
 */
export function createKvRunRecords(kv: KVNamespace, kept: KeptFor): RunRecords {
  const put = async (key: string, text: string, seconds: number): Promise<boolean> => {
    try {
      await kv.put(key, text, { expirationTtl: Math.max(seconds, MIN_KEPT_SECONDS) });
      return true;
    } catch {
      return false;
    }
  };
  return {
    async publish(runId, finished) {
      const text = JSON.stringify(toStored(finished));
      if (text.length > MAX_RECORD_CHARS) return true;
      return put(`run/${runId}`, text, kept.runSeconds);
    },
    async publishInvocation(tenantId, idempotencyKey, notice) {
      const name = `invocation/${tenantId}/${await hashText(idempotencyKey)}`;
      return put(name, JSON.stringify(notice), kept.keySeconds);
    },
    async find(runId): Promise<RunRecord | undefined> {
      try {
        const found = v.safeParse(storedRecord, await kv.get(`run/${runId}`, "json"));
        return found.success ? fromStored(found.output) : undefined;
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
function fromStored({ requestHash, run, epochs }: StoredRecord): RunRecord {
  const events: LoggedEvent[] = [];
  for (const { epoch, events: ofEpoch } of epochs) {
    for (const event of ofEpoch) {
      events.push({ event, position: { epoch, seq: events.length + 1 } });
    }
  }
  return { requestHash, run, events };
}
