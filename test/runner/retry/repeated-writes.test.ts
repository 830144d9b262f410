import { expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import {
  benchFor,
  drainPromises,
  passing,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../../shared/tools.ts";
import { ARGS, AT, failing, NAME, recordOf, toolOf, works } from "../recovery/interrupted-call.ts";

const MINUTE_MS = 60_000;
const START_MS = new FakeClock().nowMs();
const down = () => failing("DEPENDENCY_UNAVAILABLE");
const KEYED = { idempotency: { supported: true }, runtime: { retryForMs: 5 * MINUTE_MS } };

/** Lets a run rest between its attempts, each time with a new runner, until the call needs none. */
async function untilRestless(tool: unknown, settings: BenchSettings = {}) {
  let stored: readonly ToolInvocationRecord[] = [];
  let elapsedMs = 0;
  for (let rests = 0; ; rests++) {
    const bench = benchFor([tool], { ...settings, stored });
    bench.clock.advance(elapsedMs);
    const outcome = await passing(bench.ask(NAME, ARGS, AT), bench.clock, 50);
    const record = recordOf(bench, stored);
    const { retry, dispatches, awaitedUntilMs } = record;
    const isResting = outcome === "waiting" && awaitedUntilMs === undefined;
    if (!isResting || retry?.after !== dispatches) {
      return { outcome, record, rests, bench, elapsedMs: bench.clock.nowMs() - START_MS };
    }
    stored = [record];
    elapsedMs = retry.atMs - START_MS;
  }
}

test("a write under a key is repeated until its service answers, short waits in the loop, long ones at rest", async () => {
  const { tool, keys } = toolOf([...Array.from({ length: 8 }, () => down), works], KEYED);
  const { outcome, record, rests, elapsedMs } = await untilRestless(tool);
  expect(outcome).toMatchObject({ ok: true, state: "COMPLETED" });
  expect([keys.length, new Set(keys).size, record.dispatches]).toEqual([9, 1, 9]);
  // 0.25 s to 4 s in the loop, then 8, 16 and 30 s.
  expect(rests).toBe(3);
  expect(elapsedMs).toBeGreaterThanOrEqual(7_750 + 54_000);
});

test("after the contract's time a person is asked, and not before", async () => {
  const { tool, keys } = toolOf([down], KEYED);
  const { outcome, record, elapsedMs } = await untilRestless(tool);
  expect(outcome).toBe("waiting");
  expect(record).toMatchObject({ state: "PENDING", awaitedUntilMs: expect.any(Number) });
  expect(elapsedMs).toBeGreaterThan(5 * MINUTE_MS - 30_000);
  expect(elapsedMs).toBeLessThanOrEqual(5 * MINUTE_MS);
  expect(new Set(keys).size).toBe(1);
});

test("after the contract's time the contract's reconcile is asked first", async () => {
  const found = { kind: "committed", output: { text: "found" } };
  const { tool } = toolOf([down], { ...KEYED, reconcile: () => found });
  const { outcome } = await untilRestless(tool);
  expect(outcome).toMatchObject({ ok: true, value: { text: "found" } });
});

test("no attempt is planned after the end of the run's time: a person is asked instead", async () => {
  const { tool } = toolOf([down], KEYED);
  const endsAtMs = () => START_MS + MINUTE_MS;
  const { record, elapsedMs } = await untilRestless(tool, { endsAtMs });
  expect(record.awaitedUntilMs).toBeDefined();
  expect(elapsedMs).toBeLessThan(MINUTE_MS);
});

test("a failure without an effect is repeated too, and leaves no unknown outcome", async () => {
  const refused = () => failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true });
  const { tool, keys } = toolOf([refused], KEYED);
  const { outcome, record } = await untilRestless(tool);
  expect(outcome).toMatchObject({ ok: false, response: { escalate: false } });
  expect(record.state).toBe("FAILED_RETRYABLE");
  expect([keys.length > 10, new Set(keys).size]).toEqual([true, 1]);
});

test("every planned attempt takes one of the policy's retries", async () => {
  const { tool, keys } = toolOf([down], KEYED);
  const policy = { allowedTools: [NAME], budgets: { maxRetries: 2 } };
  const { record } = await untilRestless(tool, { policy });
  expect(record.awaitedUntilMs).toBeDefined();
  expect(keys.length).toBe(3);
});

/** Returns the record of a call that rests. */
async function rest(tool: unknown, settings: BenchSettings = {}): Promise<ToolInvocationRecord> {
  const bench = benchFor([tool], settings);
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock, 50)).toBe("waiting");
  const record = recordOf(bench);
  expect(record).toMatchObject({ retry: { after: record.dispatches } });
  return record;
}

const later = () => failing("DEPENDENCY_UNAVAILABLE", { retryAfterMs: 2 * MINUTE_MS });

test("a call that rests begins no attempt before its time, whatever wakes the run", async () => {
  const { tool, keys } = toolOf([later, works], KEYED);
  const stored = [await rest(tool)];
  const early = benchFor([tool], { stored });
  early.clock.advance(MINUTE_MS);
  expect(await passing(early.ask(NAME, ARGS, AT), early.clock)).toBe("waiting");
  expect(keys.length).toBe(1);
});

test("a cancelled run makes no further attempt", async () => {
  const { tool, keys } = toolOf([later, works], KEYED);
  const stored = [await rest(tool)];
  const bench = benchFor([tool], { stored });
  const signal = AbortSignal.abort("cancelled");
  const outcome = await passing(bench.ask(NAME, ARGS, { ...AT, signal }), bench.clock);
  expect(outcome).toMatchObject({ ok: false, state: "EXPIRED" });
  expect(keys.length).toBe(1);
});

test.each<[string, BenchSettings]>([
  ["the policy", { policy: { allowedTools: [] } }],
  ["a missing permission", { authorizationOf: () => ({ check: async () => "no_permission" }) }],
  ["a budget", { ledgerAnswers: [{ kind: "exhausted", budget: "tokens" }] }],
  ["a hook", { hooks: [{ before: async () => ({ code: "frozen", message: "no" }) }] }],
])("%s stops the next attempt, and a person is asked about the first", async (_name, settings) => {
  const { tool, keys } = toolOf([later, works], KEYED);
  const stored = [await rest(tool)];
  const bench = benchFor([tool], { ...settings, stored });
  bench.clock.advance(3 * MINUTE_MS);
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
  expect(recordOf(bench).awaitedUntilMs).toBeDefined();
  expect(keys.length).toBe(1);
});

test("no attempt uses a key that its service has forgotten", async () => {
  const forgetful = { supported: true, ttlSeconds: 300 };
  const { tool, keys } = toolOf([later, works], { ...KEYED, idempotency: forgetful });
  const stored = [await rest(tool)];
  const bench = benchFor([tool], { stored });
  bench.clock.advance(5 * MINUTE_MS);
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
  expect(recordOf(bench).awaitedUntilMs).toBeDefined();
  expect(keys.length).toBe(1);
});

test("no call overtakes one that rests", async () => {
  const { tool, keys } = toolOf([later, works], KEYED);
  const { tool: other, reached } = noteTool({ name: "test__other" });
  const at = (id: string) => ({ step: 1, id });
  const first = benchFor([tool, other]);
  const waits = [first.ask(NAME, ARGS, at("a")), first.ask("test__other", ARGS, at("b"))];
  expect(await passing(Promise.all(waits), first.clock)).toEqual(["waiting", "waiting"]);
  expect([keys.length, reached.length]).toEqual([1, 0]);

  const second = benchFor([tool, other], { stored: first.journal.records });
  const blocked = [second.ask(NAME, ARGS, at("a")), second.ask("test__other", ARGS, at("b"))];
  expect(await passing(Promise.all(blocked), second.clock)).toEqual(["waiting", "waiting"]);

  const third = benchFor([tool, other], { stored: first.journal.records });
  third.clock.advance(3 * MINUTE_MS);
  const asked = third.ask(NAME, ARGS, at("a"));
  const next = third.ask("test__other", ARGS, at("b"));
  await drainPromises();
  expect(await asked).toMatchObject({ ok: true });
  expect(await next).toMatchObject({ ok: true });
  expect([keys.length, reached.length]).toEqual([2, 1]);
});

test("a message of a person does not stop a call that rests", async () => {
  const { tool } = toolOf([later, works], KEYED);
  const stored = [await rest(tool)];
  const bench = benchFor([tool], { stored, inbox: { hasSteering: true } });
  bench.clock.advance(3 * MINUTE_MS);
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toMatchObject({ ok: true });
});
