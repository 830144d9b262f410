import { expect, test } from "vitest";
import { createKvRunRecords } from "../../src/adapters/kv-run-records.ts";
import type { RunRecord } from "../../src/capabilities/run.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import type { LoggedEvent } from "../../src/protocol/run/event.ts";

const runId = "run_1" as RunId;
const run = { runId, workflowId: "run_0" as RunId, model: "m", createdMs: 1 };
const delta = (seq: number, epoch: number, text = "x"): LoggedEvent => ({
  event: { type: "text_delta", part: 0, text },
  position: { epoch, seq },
});
const done: LoggedEvent = {
  event: { type: "done", reason: "stop", usage: NO_USAGE },
  position: { epoch: 2, seq: 4 },
};
const recordOf = (...events: readonly LoggedEvent[]): RunRecord => ({
  requestHash: "sha256:1",
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
  return { puts, kept, records: createKvRunRecords(kv, { runSeconds: 86_400, keySeconds: 30 }) };
}

test("keeps a finished run for a day, with the position of each event", async () => {
  const { puts, records } = setUp();
  const record = recordOf(delta(1, 0), delta(2, 0), delta(3, 2), done);
  await records.publish(runId, record);
  expect(puts).toEqual([{ key: "run/run_1", options: { expirationTtl: 86_400 } }]);
  expect(await records.find(runId)).toEqual(record);
});

test("leaves a long run to its object", async () => {
  const { puts, records } = setUp();
  const long = recordOf(delta(1, 0, "x".repeat(512 * 1024)));
  expect(await records.publish(runId, long)).toBe(true);
  expect(puts).toEqual([]);
});

test("answers false when KV fails, and finds nothing then: the object answers", async () => {
  const { records } = setUp(new Error("down"));
  await expect(records.publish(runId, recordOf(done))).resolves.toBe(false);
  expect(await records.find(runId)).toBeUndefined();
});

// Mutant: the version of a record is not read.
test.each([
  ["of the previous version, an encoded stream", { requestHash: "sha256:1", stream: "data: 1" }],
  ["of a later version", { version: 3, requestHash: "sha256:1", run, epochs: [] }],
  ["without facts of its run", { version: 2, requestHash: "sha256:1", epochs: [] }],
  ["with an event that is none", { version: 2, run, epochs: [{ epoch: 0, events: [7] }] }],
])("a record %s counts as absent", async (_name, stored) => {
  const { kept, records } = setUp();
  kept.set("run/run_1", JSON.stringify(stored));
  expect(await records.find(runId)).toBeUndefined();
});
