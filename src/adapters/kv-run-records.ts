import * as v from "valibot";
import type { RunRecord, RunRecords } from "../capabilities/run-records.ts";

/** How long a repeated request is answered from here. */
const KEPT_SECONDS = 24 * 60 * 60;
/** Longest stream that is published; a longer one stays with its object. Unit: UTF-16 code units. */
const MAX_STREAM_CHARS = 512 * 1024;

const record = v.strictObject({ requestHash: v.string(), stream: v.string() });

/** Keeps finished runs in KV, under `run/<run id>`; the id is bound to its tenant. */
export function createKvRunRecords(kv: KVNamespace): RunRecords {
  return {
    async publish(runId, finished) {
      if (finished.stream.length > MAX_STREAM_CHARS) return;
      try {
        await kv.put(`run/${runId}`, JSON.stringify(finished), { expirationTtl: KEPT_SECONDS });
      } catch {
        // The object answers in its place.
      }
    },
    async find(runId): Promise<RunRecord | undefined> {
      try {
        const found = v.safeParse(record, await kv.get(`run/${runId}`, "json"));
        return found.success ? found.output : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
