import { expect, test } from "vitest";
import { createKvRunRecords } from "../../src/adapters/kv-run-records.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";

const run = "run_1" as RunId;

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
  return { puts, records: createKvRunRecords(kv, { runSeconds: 86_400, keySeconds: 30 }) };
}

test("keeps a finished run for a day", async () => {
  const { puts, records } = setUp();
  const record = { requestHash: "sha256:1", stream: "data: 1" };
  await records.publish(run, record);
  expect(puts).toEqual([{ key: "run/run_1", options: { expirationTtl: 86_400 } }]);
  expect(await records.find(run)).toEqual(record);
});

test("leaves a long stream to its object", async () => {
  const { puts, records } = setUp();
  await records.publish(run, { requestHash: "sha256:1", stream: "x".repeat(512 * 1024 + 1) });
  expect(puts).toEqual([]);
});

test("says when nothing was kept, and finds nothing then: the object answers", async () => {
  const { records } = setUp(new Error("down"));
  await expect(records.publish(run, { requestHash: "a", stream: "b" })).resolves.toBe(false);
  expect(await records.find(run)).toBeUndefined();
});
