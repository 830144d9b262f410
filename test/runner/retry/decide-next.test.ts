import { describe, expect, test } from "vitest";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import {
  ACME,
  ANN,
  benchFor,
  endOf,
  passing,
  ledgerThat,
} from "../../../src/testing/fakes/runner-ports.ts";
import { noteTool, readTool } from "../../shared/tools.ts";

const down = (retryAfterMs?: number) => () =>
  fail({
    taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const,
    errors: [{ field: null, code: "down", message: "it is down" }],
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
const up = () => ok({ text: "up" });

test("a read is retried with the same key, and the outcome counts the attempts", async () => {
  const { tool, keys } = readTool([down(), down(), up]);
  const { call, clock, journal } = benchFor([tool]);
  const startMs = clock.nowMs();
  const result = await passing(call("test__read", {}), clock, 50);
  expect(result).toMatchObject({ ok: true, value: { text: "up" } });
  expect(result.observation.execution_metadata.attempt_number).toBe(3);
  expect(keys.length).toBe(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(clock.nowMs() - startMs).toBe(750);
  expect(journal.events.map(({ type }) => type)).toEqual([
    "tool_call_start",
    "tool_call_progress",
    "tool_call_progress",
    "tool_call_result",
  ]);
});

test("a read fails after the contract's number of retries", async () => {
  const { tool, keys } = readTool([down()], { runtime: { maxRetries: 1 } });
  const { call, clock } = benchFor([tool]);
  const result = await passing(call("test__read", {}), clock);
  expect(endOf(result)).toEqual(["DEPENDENCY_UNAVAILABLE", "down"]);
  expect(keys.length).toBe(2);
});

test("the policy limits the retries of the whole run", async () => {
  const { tool, keys } = readTool([down()]);
  const policy = { allowedTools: ["test__read"], budgets: { maxRetries: 3 } };
  const { call, clock } = benchFor([tool], { policy });
  for (const id of ["a", "b", "c"]) await passing(call("test__read", { id }), clock);
  expect(keys.length).toBe(3 + 3);
});

test("the backoff has jitter and respects a retry-after time", async () => {
  const { tool, keys } = readTool([down(), down(5_000), up]);
  const { call, clock } = benchFor([tool], { random: { fraction: () => 0.5 } });
  const startMs = clock.nowMs();
  const result = await passing(call("test__read", {}), clock, 25);
  expect(result.ok).toBe(true);
  expect(keys.length).toBe(3);
  // 250 ms plus half of it, then 5,000 ms plus half of 500 ms.
  expect(clock.nowMs() - startMs).toBe(375 + 5_250);
});

test("a negative retry-after time does not shorten the backoff", async () => {
  const { tool } = readTool([down(-200), up]);
  const { call, clock } = benchFor([tool]);
  const startMs = clock.nowMs();
  expect((await passing(call("test__read", {}), clock, 10)).ok).toBe(true);
  expect(clock.nowMs() - startMs).toBe(250);
});

test("a retry-after time that is too long ends the call", async () => {
  const { tool, keys } = readTool([down(60_000), up]);
  const { call, clock } = benchFor([tool]);
  expect(endOf(await passing(call("test__read", {}), clock))[0]).toBe("DEPENDENCY_UNAVAILABLE");
  expect(keys.length).toBe(1);
});

describe("the contract's rate limit", () => {
  const limited = (windowSeconds: number) => ({
    runtime: { rateLimit: { windowSeconds, maxRequests: 1 } },
  });

  test("applies to calls that waited for their window", async () => {
    const startsMs: number[] = [];
    const { tool } = readTool([() => (startsMs.push(clock.nowMs()), up())], limited(10));
    const { call, clock } = benchFor([tool]);
    const ids = ["a", "b", "c"];
    const calls = Promise.all(ids.map((id) => call("test__read", { id }, { step: 1, id })));
    const results = await passing(calls, clock, 250);
    expect(results.every(({ ok: isOk }) => isOk)).toBe(true);
    const [first = 0, second = 0, third = 0] = startsMs;
    expect([second - first, third - second].every((gap) => gap >= 10_000)).toBe(true);
  });

  test("counts a call whose first attempt failed before the dispatch", async () => {
    const states = [down()(), ok(null)];
    const change = { ...limited(3_600), checkState: () => states.shift() ?? ok(null) };
    const { tool, keys } = readTool([up], change);
    const { call, clock } = benchFor([tool]);
    expect((await passing(call("test__read", {}), clock)).ok).toBe(true);
    expect(endOf(await passing(call("test__read", {}), clock))[0]).toBe("RATE_LIMITED");
    expect(keys.length).toBe(1);
  });
});

describe("a mutation that failed", () => {
  const flaky = { execute: down(), runtime: { maxRetries: 2 } };
  test("is not retried and waits for an operator", async () => {
    let ran = 0;
    const { tool } = noteTool({ ...flaky, execute: () => (ran++, down()()) });
    const { ask, clock, journal } = benchFor([tool]);
    expect(await passing(ask("test__note", { text: "hi" }), clock)).toBe("waiting");
    expect(ran).toBe(1);
    expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    expect(journal.events.at(-1)).toMatchObject({ type: "tool_call_waiting" });
  });

  test("ends as retryable when its tool says that nothing happened", async () => {
    const nothing = () => {
      const { failure } = down()();
      return fail({ ...failure, notCommitted: true as const });
    };
    const { tool } = noteTool({ execute: nothing });
    const { call, clock, journal } = benchFor([tool]);
    const result = await passing(call("test__note", { text: "hi" }), clock);
    expect(result.response).toMatchObject({ retryable: true, escalate: false });
    expect(journal.records).toMatchObject([{ state: "FAILED_RETRYABLE" }]);
  });

  test("is retried when its contract supports idempotency keys", async () => {
    let ran = 0;
    const idempotency = { supported: true };
    const { tool } = noteTool({ ...flaky, idempotency, execute: () => (ran++, down()()) });
    const { ask, clock, reservations } = benchFor([tool]);
    expect(await passing(ask("test__note", { text: "hi" }), clock)).toBe("waiting");
    expect(ran).toBe(3);
    expect(new Set(reservations.map(({ id }) => id)).size).toBe(1);
  });

  test("is retried when it was never dispatched", async () => {
    const { tool, reached } = noteTool({ runtime: { maxRetries: 2 } });
    const { call, clock } = benchFor([tool], { ledgerAnswers: [{ kind: "unavailable" }] });
    expect((await passing(call("test__note", { text: "hi" }), clock)).ok).toBe(true);
    expect(reached.length).toBe(1);
  });
});

test("every gate runs again before a retry", async () => {
  let answers = 0;
  const { tool, keys } = readTool([down(), up]);
  const { call, clock } = benchFor([tool], {
    authorizationOf: () => ({
      check: () => Promise.resolve(answers++ === 0 ? "allow" : "no_permission"),
    }),
  });
  expect(endOf(await passing(call("test__read", {}), clock))[0]).toBe("PERMISSION_DENIED");
  expect(keys.length).toBe(1);
});

test("a failure that a retry cannot fix is not retried", async () => {
  const invalid = () =>
    fail({
      taxonomyClass: "SEMANTIC_INVALIDITY" as const,
      errors: [{ field: null, code: "no", message: "no" }],
    });
  const { tool, keys } = readTool([invalid, up]);
  const { call, clock } = benchFor([tool]);
  expect((await passing(call("test__read", {}), clock)).ok).toBe(false);
  expect(keys.length).toBe(1);
});

test("cancelling the run during a backoff ends the call with its last failure", async () => {
  const abort = new AbortController();
  const { tool, keys } = readTool([
    () => {
      queueMicrotask(() => setTimeout(() => abort.abort(), 0));
      return down(20_000)();
    },
    up,
  ]);
  const { call, clock } = benchFor([tool]);
  const result = await call("test__read", {}, { signal: abort.signal });
  expect(clock.waiting).toBe(0);
  expect(endOf(result)).toEqual(["DEPENDENCY_UNAVAILABLE", "down"]);
  expect(keys.length).toBe(1);
});

test("cancelling the run during a retryable refusal ends the call at once", async () => {
  const abort = new AbortController();
  const { tool, reached } = noteTool({ runtime: { maxRetries: 1 } });
  const ledger = ledgerThat(async () => (abort.abort(), { kind: "unavailable" }));
  const { call, clock } = benchFor([tool], { ledger });
  const result = await call("test__note", { text: "hi" }, { signal: abort.signal });
  expect(endOf(result)).toEqual(["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"]);
  expect([reached.length, clock.waiting]).toEqual([0, 0]);
});

test("another person, version, call or payload has another idempotency key", async () => {
  const seen: string[] = [];
  const keyOf = async (
    more: { subjectId?: string; version?: string; id?: string; args?: object } = {},
  ) => {
    const { subjectId, version = "1.0.0", id = "a", args = {} } = more;
    const { tool, keys } = readTool([up], { version });
    const who = { tenantId: ACME, actorId: ANN, roles: [], scopes: [] };
    const principal = { ...who, ...(subjectId !== undefined && { subjectId: subjectId as never }) };
    await benchFor([tool], { principal }).call("test__read", args, { step: 1, id });
    seen.push(...keys);
  };
  await keyOf();
  await keyOf({ subjectId: "user:bob" });
  await keyOf({ version: "1.0.1" });
  await keyOf({ id: "b" });
  await keyOf({ args: { id: "x" } });
  expect(new Set(seen).size).toBe(5);
  await keyOf();
  expect(seen[5]).toBe(seen[0]);
});
