import { expect, test } from "vitest";
import { createFingerprints } from "../../../src/adapters/keys/hmac-fingerprints.ts";
import { createKvRunRecords } from "../../../src/adapters/run/kv-run-records.ts";
import type { RunRecord } from "../../../src/capabilities/run-records.ts";
import type { RunId, TenantId } from "../../../src/protocol/identity/ids.ts";
import { NO_USAGE } from "../../../src/protocol/model/usage.ts";
import type { LoggedEvent } from "../../../src/protocol/run/event.ts";

const runId = "run_1" as RunId;
const owned = { tenantId: "acme" as TenantId, runId };
const run = { runId, workflowId: "run_0" as RunId, model: "m", createdMs: 1 };
const HASH = "sha256:1";
const delta = (seq: number, epoch: number, text = "x"): LoggedEvent => ({
  event: { type: "text_delta", part: 0, text },
  position: { epoch, seq },
});
const done: LoggedEvent = {
  event: { type: "done", reason: "stop", usage: NO_USAGE },
  position: { epoch: 2, seq: 4 },
};
const recordOf = (...events: readonly LoggedEvent[]): RunRecord => ({
  requestHash: HASH,
  run,
  events,
});

/** Records over a KV that keeps everything, or fails. */
function setUp(failure?: Error) {
  const puts: { readonly key: string; readonly options: unknown }[] = [];
  const kept = new Map<string, string>();
  const kv = {
    async put(key: string, value: string, options: unknown) {
      if (failure) throw failure;
      puts.push({ key, options });
      kept.set(key, value);
    },
    async get(key: string): Promise<unknown> {
      if (failure) throw failure;
      const value = kept.get(key);
      return value === undefined ? null : JSON.parse(value);
    },
  } as unknown as KVNamespace;
  const fingerprints = createFingerprints("a secret of thirty-two characters");
  const times = { runSeconds: 86_400, keySeconds: 3_600 };
  return { puts, kept, records: createKvRunRecords(kv, fingerprints, times) };
}

test("keeps a finished run for a day, with the position of each event", async () => {
  const { puts, records } = setUp();
  const record = recordOf(delta(1, 0), delta(2, 0), delta(3, 2), done);
  await records.publish(owned, record);
  expect(puts).toEqual([{ key: "run/run_1", options: { expirationTtl: 86_400 } }]);
  expect(await records.find(owned, HASH)).toEqual(record);
});

test("holds no plain hash of the request, and knows the record of another one", async () => {
  const { kept, records } = setUp();
  await records.publish(owned, recordOf(done));
  expect(kept.get("run/run_1")).not.toContain(HASH);
  expect(await records.find(owned, "sha256:2")).toBe("other_request");
});

test("leaves a long run to its object", async () => {
  const { puts, records } = setUp();
  const long = recordOf(delta(1, 0, "x".repeat(512 * 1024)));
  expect(await records.publish(owned, long)).toBe(true);
  expect(puts).toEqual([]);
});

test("answers false when KV fails, and finds nothing then: the object answers", async () => {
  const { records } = setUp(new Error("down"));
  await expect(records.publish(owned, recordOf(done))).resolves.toBe(false);
  expect(await records.find(owned, HASH)).toBeUndefined();
});

test.each([
  ["of the previous version, an encoded stream", { requestHash: HASH, stream: "data: 1" }],
  ["of the version with plain hashes", { version: 2, requestHash: HASH, run, epochs: [] }],
  ["of a later version", { version: 4, requestHash: HASH, run, epochs: [] }],
  ["without facts of its run", { version: 3, requestHash: HASH, epochs: [] }],
  ["with an event that is none", { version: 3, run, epochs: [{ epoch: 0, events: [7] }] }],
])("a record %s counts as absent", async (_name, stored) => {
  const { kept, records } = setUp();
  kept.set("run/run_1", JSON.stringify(stored));
  expect(await records.find(owned, HASH)).toBeUndefined();
});
