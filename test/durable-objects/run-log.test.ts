import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { replayLog } from "../../durable-objects/run/logged-state.ts";
import type { RunLog } from "../../durable-objects/run/run-log.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import { RunInvocations } from "../../src/run/invocations.ts";
import type { RunId, ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { bindings } from "../shared/worker.ts";

const principal = { tenantId: "acme", actorId: "user:ann" } as Principal;
const CLAIM = { runId: "run_1" as RunId, principal, model: "m", messages: [] };
const RECORD: ToolInvocationRecord = {
  number: 1,
  toolCallId: "call_1" as ToolCallId,
  step: 1,
  part: 0,
  name: "core__calculate",
  argumentsText: "{}",
  truncated: false,
  state: "PENDING",
  dispatches: 0,
  askedAtMs: 1,
};

let objects = 0;

function withLog(work: (log: RunLog, sql: SqlStorage) => void): Promise<void> {
  const id = bindings.RUNS.idFromName(`run-log-${objects++}`);
  return runInDurableObject(bindings.RUNS.get(id), (_object, { storage }) => {
    const store = new RunStore(storage);
    store.claim(CLAIM, { createdMs: 0 });
    work(store.log, storage.sql);
  });
}

const rowsOf = (sql: SqlStorage): number =>
  sql.exec("SELECT 1 FROM log WHERE seq > 0").toArray().length;
const said = (text: string) => ({ kind: "message", message: { role: "user", text } }) as const;

test("what is put together is one row, events included", () =>
  withLog((log, sql) => {
    log.batch(() => {
      log.put(said("one"));
      log.batch(() => log.put(said("two")));
      log.putEvents({ firstSeq: 1, lastSeq: 1, epoch: 0, body: "[]" });
    });
    expect([rowsOf(sql), [...log.entries()]]).toEqual([1, [said("one"), said("two")]]);
  }));

test("a batch that fails stores nothing of it", () =>
  withLog((log, sql) => {
    const fails = (): void => {
      log.put(said("lost"));
      throw new Error("broken");
    };
    expect(() => log.batch(fails)).toThrow("broken");
    log.put(said("kept"));
    expect([rowsOf(sql), [...log.entries()]]).toEqual([1, [said("kept")]]);
  }));

test("entries longer than a row are stored in several rows and read whole", () =>
  withLog((log, sql) => {
    const long = "😀".repeat(700_000);
    log.put(said(long));
    log.put(said("next"));
    expect(rowsOf(sql)).toBeGreaterThan(3);
    expect([...log.entries()]).toEqual([said(long), said("next")]);
  }));

test("a record is what all its changes come to, and a change holds no unchanged field", () =>
  withLog((log) => {
    const stored = new RunInvocations(log, new Map());
    stored.put(RECORD);
    stored.put({ ...RECORD, dispatches: 1 });
    stored.resolve(1, { outcome: "expired", atMs: 2 });
    stored.put({ ...RECORD, dispatches: 1, state: "EXPIRED" });
    const changes = [...log.entries()].slice(1);
    expect(changes.map((entry) => entry.kind === "invocation" && entry.changed)).toEqual([
      { dispatches: 1 },
      { resolution: { outcome: "expired", atMs: 2 } },
      { state: "EXPIRED" },
    ]);
    const replayed = replayLog(log.entries(), 0).invocations.get(1);
    expect(replayed).toEqual({
      ...RECORD,
      dispatches: 1,
      state: "EXPIRED",
      resolution: { outcome: "expired", atMs: 2 },
    });
    expect(stored.find(1)).toEqual(replayed);
  }));

test("an operation has one record", () =>
  withLog((log) => {
    const stored = new RunInvocations(log, new Map());
    stored.put(RECORD);
    expect(() => stored.put({ ...RECORD, number: 2 })).toThrow("1:call_1 has a record");
  }));
