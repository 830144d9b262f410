import * as v from "valibot";
import type { RunRecord, RunRecords } from "../capabilities/run.ts";
import { hashText } from "../protocol/json/canonical-hash.ts";

/** Longest stream that is published; a longer one stays with its object. Unit: UTF-16 code units. */
const MAX_STREAM_CHARS = 512 * 1024;
/** KV takes no shorter time. */
const MIN_KEPT_SECONDS = 60;

const record = v.strictObject({ requestHash: v.string(), stream: v.string() });

/** How long what is published is kept. */
export interface KeptFor {
  readonly runSeconds: number;
  readonly keySeconds: number;
}

/**
 * Keeps finished runs in KV under `run/<run id>`, whose id is bound to its tenant, and what became of
 * operations under `invocation/<tenant>/<hash of the idempotency key>`.
 */
export function createKvRunRecords(kv: KVNamespace, kept: KeptFor): RunRecords {
  const put = async (key: string, value: unknown, seconds: number): Promise<boolean> => {
    try {
      const expirationTtl = Math.max(seconds, MIN_KEPT_SECONDS);
      await kv.put(key, JSON.stringify(value), { expirationTtl });
      return true;
    } catch {
      return false;
    }
  };
  return {
    async publish(runId, finished) {
      if (finished.stream.length > MAX_STREAM_CHARS) return true;
      return put(`run/${runId}`, finished, kept.runSeconds);
    },
    async publishInvocation(tenantId, idempotencyKey, notice) {
      const name = `invocation/${tenantId}/${await hashText(idempotencyKey)}`;
      return put(name, notice, kept.keySeconds);
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
