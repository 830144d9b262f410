import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { Deadlines, type RunDeadline, type RunDeadlines } from "../../durable-objects/deadlines.ts";
import { deliveryDelayMs } from "../../durable-objects/run/run-deadlines.ts";
import { RunStore } from "../../durable-objects/run/run-store.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { bindings, chat, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const HOUR_MS = 3_600_000;

/** Works on the deadlines of a new object. */
function withDeadlines(
  name: string,
  work: (deadlines: RunDeadlines, alarmAt: () => Promise<number | null>) => Promise<void>,
): Promise<void> {
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName(`deadlines-${name}`));
  return runInDurableObject(stub, async (_object, { storage }) => {
    const store = new RunStore(storage);
    const principal = { tenantId: name, actorId: "user:ann", roles: [], scopes: [] } as never;
    store.claim(
      { runId: name as RunId, principal, model: "scripted", messages: [] },
      { createdMs: Date.now() },
    );
    const alarmAt = async (): Promise<number | null> => storage.getAlarm();
    await work(new Deadlines<RunDeadline>(storage, store.deadlines), alarmAt);
    await storage.deleteAlarm();
  });
}

describe("the one alarm", () => {
  test("is set to the earliest deadline", () =>
    withDeadlines("earliest", async (deadlines, alarmAt) => {
      const base = Date.now() + HOUR_MS;
      deadlines.set("forget", base + 3_000);
      deadlines.set("wall_clock", base + 1_000);
      deadlines.set("outbox", base + 2_000);
      expect(await alarmAt()).toBe(base + 1_000);
    }));

  test("stays when its deadline is cleared, until it is set exactly", () =>
    withDeadlines("exactly", async (deadlines, alarmAt) => {
      const base = Date.now() + HOUR_MS;
      deadlines.set("wall_clock", base + 1_000);
      deadlines.set("outbox", base + 2_000);
      deadlines.clear("wall_clock");
      expect(await alarmAt()).toBe(base + 1_000);
      deadlines.arm({ exactly: true });
      expect(await alarmAt()).toBe(base + 2_000);
      deadlines.clear("outbox");
      deadlines.arm({ exactly: true });
      expect(await alarmAt()).toBe(null);
    }));

  test("ignores paused deadlines, and a resumed deadline keeps its remaining time", () =>
    withDeadlines("paused", async (deadlines, alarmAt) => {
      const base = Date.now() + HOUR_MS;
      deadlines.set("wall_clock", base + 1_000);
      deadlines.set("outcome", base + 9_000);
      deadlines.pause("wall_clock", base);
      expect([deadlines.at("wall_clock"), deadlines.has("wall_clock")]).toEqual([undefined, true]);
      deadlines.arm({ exactly: true });
      expect(await alarmAt()).toBe(base + 9_000);
      deadlines.pause("wall_clock", base + 500);
      deadlines.resume("wall_clock", base + 4_000);
      expect(await alarmAt()).toBe(base + 5_000);
      deadlines.resume("wall_clock", base + 8_000);
      expect(deadlines.at("wall_clock")).toBe(base + 5_000);
    }));

  test("lists due deadlines in order until they are cleared", () =>
    withDeadlines("due", async (deadlines) => {
      const base = Date.now() + HOUR_MS;
      deadlines.set("retention", base + 2);
      deadlines.set("watchdog", base + 1);
      deadlines.set("forget", base + 3);
      expect(deadlines.due(base)).toEqual([]);
      expect(deadlines.due(base + 2)).toEqual(["watchdog", "retention"]);
      expect(deadlines.due(base + 2)).toEqual(["watchdog", "retention"]);
      deadlines.clear("watchdog");
      expect(deadlines.due(base + 2)).toEqual(["retention"]);
    }));
});

test("a running run has a watchdog alarm, and an ended run has none", async () => {
  const response = await chat([{ text: ["a"], holds: "deadlines", hangs: true }]);
  const runId = runIdOf(response);
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName(runId));
  const watchdogIn = (): Promise<number> =>
    runInDurableObject(stub, async (_object, { storage }) => {
      const { at } = storage.sql
        .exec<{ at: number | null }>(
          "SELECT deadlines ->> '$.watchdog.atMs' AS at FROM log WHERE seq = 0",
        )
        .one();
      const alarm = await storage.getAlarm();
      return at !== null && alarm !== null && alarm <= at ? at - Date.now() : Infinity;
    });
  expect(await watchdogIn()).toBeLessThanOrEqual(30_000);
  await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  await response.text().catch(() => {});
  await expect.poll(watchdogIn).toBe(Infinity);
});

test("runs that end within 50 ms deliver in the same moment, after their last bytes", () => {
  const nowMs = 1_800_000_000_025;
  const delays = Array.from({ length: 100 }, (_, ms) => deliveryDelayMs(nowMs + ms));
  const moments = new Set(delays.map((delayMs, ms) => nowMs + ms + delayMs));
  expect([Math.min(...delays), Math.max(...delays), moments.size]).toEqual([76, 125, 3]);
});
