import { describe, expect, test } from "vitest";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { MemoryJournal } from "../../fakes/fakes.ts";
import {
  ANN,
  benchFor,
  endOf,
  passing,
  drainPromises,
  type Bench,
  type BenchSettings,
} from "../../fakes/runner-ports.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";

const NAME = "test__note";
const ARGS = { text: "hi" };
const AT = { step: 1, id: "a" };
const IDEMPOTENT = { idempotency: { supported: true } };
const never = (): Promise<never> => new Promise(() => {});
const failing = (taxonomyClass: string, more: object = {}) =>
  fail({ taxonomyClass, errors: [{ field: null, code: "no", message: "no" }], ...more });

const lost = () => failing("DEPENDENCY_UNAVAILABLE");

/** A tool whose executions follow each other; the last one repeats. */
function toolOf(executions: readonly (() => unknown)[], change: object = {}) {
  const keys: string[] = [];
  const { tool } = noteTool({
    execute(_args: unknown, _context: unknown, { idempotencyKey }: { idempotencyKey: string }) {
      const execution = executions[Math.min(keys.length, executions.length - 1)];
      keys.push(idempotencyKey);
      return execution?.();
    },
    ...change,
  });
  return { tool, keys };
}

const works = () => ok({ text: "done" });
const WAYS = {
  timeout: never,
  throw: () => {
    throw new Error("s3cret");
  },
  crash: never,
} as const;
type Way = keyof typeof WAYS;

/** What a life leaves that ends while a tool runs. */
async function leave(tool: unknown, settings: BenchSettings = {}) {
  const { ask, journal } = benchFor([tool], settings);
  void ask(NAME, ARGS, AT);
  await drainPromises();
  expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
  return journal.records;
}

/** Lets an effect come into doubt in one of the ways, then goes on. */
async function bringAbout(way: Way, tool: unknown, settings: BenchSettings = {}) {
  const stored = way === "crash" ? await leave(tool, settings) : [];
  const bench = benchFor([tool], { ...settings, stored });
  const outcome = await passing(bench.ask(NAME, ARGS, AT), bench.clock);
  return { outcome, bench, record: recordOf(bench, stored) };
}

function recordOf({ journal }: Bench, stored: readonly ToolInvocationRecord[] = []) {
  const [record = stored[0]] = journal.records;
  if (!record) throw new Error("there is no record");
  return record;
}

const COMMITTED = () => ({ kind: "committed", output: { text: "found" } });
const UNSURE = {
  unknown: { reconcile: () => ({ kind: "unknown" }) },
  throwing: { reconcile: WAYS.throw },
  rejecting: { reconcile: () => Promise.reject(new Error("s3cret")) },
  hanging: { reconcile: never },
  nonsense: { reconcile: () => ({ kind: "perhaps" }) },
  nothing: { reconcile: () => undefined },
  none: {},
} as const;

describe.each(["timeout", "throw", "crash"] as const)("after a %s", (way) => {
  test.each(Object.entries(UNSURE))(
    "a write whose reconcile is %s waits for an operator, and did its work once",
    async (_name, change) => {
      const { tool, keys } = toolOf([WAYS[way], works], change);
      const { outcome, bench, record } = await bringAbout(way, tool);
      expect(outcome).toBe("waiting");
      expect(keys.length).toBe(1);
      expect(record).toMatchObject({ state: "PENDING", dispatches: 1 });
      expect(record.end).toBeUndefined();
      const untilMs = record.awaitedUntilMs ?? 0;
      expect(bench.journal.events.at(-1)).toMatchObject({ type: "tool_call_waiting", untilMs });
      // The wait begins now: the operator has the whole of it.
      expect(untilMs).toBe(bench.clock.nowMs() + 60_000);
      expect(JSON.stringify(bench.journal.events)).not.toContain("s3cret");
    },
  );

  test("a write that is found committed is completed with what was found, and not repeated", async () => {
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile: COMMITTED });
    const { outcome, record } = await bringAbout(way, tool);
    expect(keys.length).toBe(1);
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 1 });
    expect(outcome).toMatchObject({
      ok: true,
      value: { text: "found" },
      observation: { execution_metadata: { idempotency_hit: true } },
    });
  });

  test("a write that is found committed with an output that fits no contract happened all the same", async () => {
    const reconcile = () => ({ kind: "committed", output: { other: 1 } });
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile });
    const { outcome, record } = await bringAbout(way, tool);
    expect(endOf(outcome as never)).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "invalid_output"]);
    expect([keys.length, record.state]).toEqual([1, "COMPLETED"]);
  });

  test("a write that is found not committed is made once more, under the same key, unless it may still act", async () => {
    const reconcile = () => ({ kind: "not_committed" });
    const { tool, keys } = toolOf([WAYS[way], works], { reconcile });
    const { outcome, record, bench } = await bringAbout(way, tool);
    // Mutant: an attempt that was left behind is taken for one that is over.
    if (way === "timeout") {
      expect([outcome, keys.length, record.dispatches]).toEqual(["waiting", 1, 1]);
      return;
    }
    expect(outcome).toMatchObject({ ok: true, value: { text: "done" } });
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 2 });
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    const starts = bench.journal.events.filter(({ type }) => type === "tool_call_start");
    expect(starts.length).toBe(way === "crash" ? 0 : 1);
  });

  test("what is asked what became of a write has the key of the write, and asks alone", async () => {
    const seen: unknown[] = [];
    const reconcile = (args: unknown, _context: unknown, scope: { idempotencyKey: string }) => {
      seen.push([args, scope.idempotencyKey]);
      return { kind: "unknown" };
    };
    const { tool, keys } = toolOf([WAYS[way]], { reconcile });
    await bringAbout(way, tool);
    expect(seen).toEqual([[ARGS, keys[0]]]);
  });
});

test.each([
  ["read", "timeout", AS_READ, 2, "COMPLETED"],
  ["read", "throw", AS_READ, 1, "FAILED_FINAL"],
  ["read", "crash", AS_READ, 2, "COMPLETED"],
  ["idempotent write", "timeout", IDEMPOTENT, 2, "COMPLETED"],
  ["idempotent write", "throw", IDEMPOTENT, 1, "PENDING"],
  ["idempotent write", "crash", IDEMPOTENT, 2, "COMPLETED"],
] as const)("a %s after a %s", async (_name, way, change, ran, state) => {
  const { tool, keys } = toolOf([WAYS[way], works], { ...change, runtime: { maxRetries: 1 } });
  const { outcome, record } = await bringAbout(way, tool);
  expect(keys.length).toBe(ran);
  expect(new Set(keys).size).toBe(1);
  expect(record).toMatchObject({ state, dispatches: ran });
  expect(outcome === "waiting").toBe(state === "PENDING");
});

describe("a write that is found not committed again and again", () => {
  const change = { reconcile: () => ({ kind: "not_committed" }) };

  test.each([
    [0, 2],
    [1, 2],
    [3, 4],
  ])(
    "is given up with %i retries after %i attempts, and nothing happened",
    async (retries, ran) => {
      const { tool, keys } = toolOf([lost], { ...change, runtime: { maxRetries: retries } });
      const { outcome, record } = await bringAbout("throw", tool);
      expect(keys.length).toBe(ran);
      expect(record).toMatchObject({ state: "FAILED_RETRYABLE", dispatches: ran });
      expect(outcome).toMatchObject({ ok: false, response: { escalate: false, retryable: true } });
      const { errors } = (outcome as Exclude<typeof outcome, string>).observation.result_payload;
      expect(errors.map(({ code }) => code)).toEqual(["no", "not_committed"]);
    },
  );

  test("is no question any more from then on", async () => {
    let checks = 0;
    const checkState = () => (++checks > 1 ? never() : ok(null));
    const { tool } = toolOf([WAYS.throw], { ...change, checkState });
    const bench = benchFor([tool]);
    void bench.ask(NAME, ARGS, AT);
    await drainPromises();
    expect([checks, recordOf(bench)]).toMatchObject([2, { state: "FAILED_RETRYABLE" }]);
  });

  test("takes the run's retries", async () => {
    const { tool, keys } = toolOf([lost], { ...change, runtime: { maxRetries: 9 } });
    const policy = { allowedTools: [NAME], budgets: { maxRetries: 2 } };
    const { record } = await bringAbout("throw", tool, { policy });
    expect([keys.length, record.state]).toEqual([3, "FAILED_RETRYABLE"]);
  });

  test("has had the attempts of its earlier lives", async () => {
    const { tool, keys } = toolOf([never], change);
    const [left] = await leave(tool);
    const stored = [{ ...(left as ToolInvocationRecord), dispatches: 4 }];
    const bench = benchFor([tool], { stored });
    await passing(bench.ask(NAME, ARGS, AT), bench.clock);
    expect(keys.length).toBe(1);
    expect(recordOf(bench)).toMatchObject({ state: "FAILED_RETRYABLE", dispatches: 4 });
  });
});

describe("a doubt outlives what later attempts are told", () => {
  // Mutant: the last attempt's word counts for all of them.
  test.each([
    ["nothing happened this time", failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true })],
    ["it is forbidden", failing("PERMISSION_DENIED")],
    ["too much is asked", failing("RATE_LIMITED")],
    ["the state is another", failing("STALE_STATE")],
  ])("%s", async (_name, answer) => {
    const { tool, keys } = toolOf([never, () => answer], {
      ...IDEMPOTENT,
      runtime: { maxRetries: 1 },
    });
    const { outcome, record } = await bringAbout("timeout", tool);
    expect([outcome, keys.length, record.state]).toEqual(["waiting", 2, "PENDING"]);
    const crashed = toolOf([never, () => answer], IDEMPOTENT);
    const taken = await bringAbout("crash", crashed.tool);
    expect([taken.outcome, taken.record.state]).toEqual(["waiting", "PENDING"]);
  });

  test("until one of them succeeds, also with an output that does not fit", async () => {
    const { tool } = toolOf([never, () => ok({ other: 1 })], IDEMPOTENT);
    const { outcome, record } = await bringAbout("crash", tool);
    expect(endOf(outcome as never)[0]).toBe("OBSERVATION_NORMALIZATION_FAIL");
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 2 });
  });

  test("until its contract tells that nothing happened at all", async () => {
    const reconcile = () => ({ kind: "not_committed" });
    const runtime = { maxRetries: 1 };
    const { tool } = toolOf([never], { ...IDEMPOTENT, reconcile, runtime });
    const { outcome, record } = await bringAbout("timeout", tool);
    expect(record.state).toBe("FAILED_RETRYABLE");
    expect(outcome).toMatchObject({ response: { escalate: false } });
  });

  test.each([
    ["policy", { authorizationOf: () => ({ check: async () => "no_permission" as const }) }],
    ["a hook", { hooks: [{ before: async () => ({ code: "frozen", message: "no" }) }] }],
    ["the ledger", { ledgerAnswers: [{ kind: "exhausted", budget: "tokens" }] }],
    ["the broken ledger", { ledger: { reserve: () => Promise.reject(new Error("s3cret")) } }],
  ] as readonly [string, BenchSettings][])(
    "%s refuses to have an idempotent write made again",
    async (_name, settings) => {
      const { tool, keys } = toolOf([never, works], IDEMPOTENT);
      const stored = await leave(tool);
      const bench = benchFor([tool], { ...settings, stored });
      expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
      expect([keys.length, recordOf(bench).state]).toEqual([1, "PENDING"]);
    },
  );
});

test.each(["IDEMPOTENCY_CONFLICT", "COMPENSATION_REQUIRED", "COMPENSATION_FAILED"])(
  "a write that fails as %s may have changed something, and is a question",
  async (taxonomyClass) => {
    const { tool } = toolOf([() => failing(taxonomyClass)]);
    const bench = benchFor([tool]);
    expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
    expect(recordOf(bench).state).toBe("PENDING");
  },
);

test("a write that waits for its next attempt, and did not happen, is no question after a crash", async () => {
  const nothing = failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true });
  const { tool, keys } = toolOf([() => nothing, works], { runtime: { maxRetries: 1 } });
  const first = benchFor([tool]);
  void first.ask(NAME, ARGS, AT);
  await drainPromises();
  expect(first.journal.records).toMatchObject([{ state: "FAILED_RETRYABLE", dispatches: 1 }]);
  const bench = benchFor([tool], { stored: first.journal.records });
  expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toMatchObject({ ok: true });
  expect(recordOf(bench)).toMatchObject({ state: "COMPLETED", dispatches: 2 });
  expect(new Set(keys).size).toBe(1);
});

test("a gate that fails after an attempt in which nothing happened leaves nothing to reconcile", async () => {
  const nothing = failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true });
  const { tool } = toolOf([() => nothing], { runtime: { maxRetries: 1 } });
  const bench = benchFor([tool], {
    ledgerAnswers: [{ kind: "reserved" }, { kind: "unavailable" }],
  });
  const outcome = await passing(bench.ask(NAME, ARGS, AT), bench.clock);
  expect(outcome).toMatchObject({ response: { escalate: false, next_action: "retry_later" } });
  expect(recordOf(bench).state).toBe("FAILED_RETRYABLE");
});

describe("what breaks on the way to the contract's answer answers nothing", () => {
  test("the broker", async () => {
    const connected = { requiresConnection: true, capabilities: ["auth"], reconcile: COMMITTED };
    const { tool } = toolOf([never], connected);
    const settings = {
      policy: {
        allowedTools: [NAME],
        grants: [{ connectionId: "mail", tools: [NAME] }],
      },
      connectionIds: ["mail"] as never,
    };
    const bind = () => Promise.resolve(ok({}) as never);
    const stored = await leave(tool, { ...settings, broker: { bind } });
    const broken = { bind: () => Promise.reject(new Error("s3cret")) };
    const bench = benchFor([tool], { ...settings, broker: broken, stored });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    const open = benchFor([tool], { ...settings, broker: { bind }, stored });
    expect(await open.ask(NAME, ARGS, AT)).toMatchObject({ ok: true });
  });

  test("the permission", async () => {
    const { tool } = toolOf([never], { reconcile: COMMITTED });
    const stored = await leave(tool);
    const authorizationOf = () => ({ check: async () => "no_permission" as const });
    expect(await benchFor([tool], { authorizationOf, stored }).ask(NAME, ARGS, AT)).toBe("waiting");
  });
});

describe("a run that is stopped", () => {
  const expired = { ok: false, state: "EXPIRED", response: { escalate: true } };

  test("while a write runs closes it in doubt", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject(expired);
    expect(recordOf(bench)).toMatchObject({ state: "EXPIRED", dispatches: 1 });
  });

  test("while a write runs asks nobody what became of it", async () => {
    const abort = new AbortController();
    const { tool } = toolOf([() => (abort.abort(), never())], { reconcile: COMMITTED });
    const bench = benchFor([tool]);
    await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(bench.questions.length).toBe(1);
  });

  test("while an idempotent write is about to be made again tells of the attempt in doubt", async () => {
    const abort = new AbortController();
    let checks = 0;
    const checkState = () => (++checks > 1 ? (abort.abort(), never()) : ok(null));
    const { tool } = toolOf([never], { ...IDEMPOTENT, checkState, runtime: { maxRetries: 1 } });
    const bench = benchFor([tool]);
    const pending = bench.call(NAME, ARGS, { ...AT, signal: abort.signal });
    const { observation, state } = await passing(pending, bench.clock);
    const { errors } = observation.result_payload;
    expect([state, observation.status.taxonomy_class]).toEqual(["EXPIRED", "TIMEOUT"]);
    expect(errors.map(({ code }) => code)).toEqual(["timeout", "outcome_unknown"]);
  });

  test("while the contract is asked closes it in doubt", async () => {
    const abort = new AbortController();
    const reconcile = () => (abort.abort(), never());
    const { tool, keys } = toolOf([WAYS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    expect(await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal })).toMatchObject(expired);
    expect([keys.length, bench.clock.waiting]).toEqual([1, 0]);
  });

  test("after the contract said that nothing happened makes no attempt more", async () => {
    const abort = new AbortController();
    const reconcile = () => (queueMicrotask(() => abort.abort()), { kind: "not_committed" });
    const { tool, keys } = toolOf([WAYS.throw, works], { reconcile });
    const bench = benchFor([tool]);
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    expect(outcome).toMatchObject({ ok: false });
    expect(keys.length).toBe(1);
    // Cancelled before the answer came, it is a doubt; after it, a failure.
    expect(["EXPIRED", "FAILED_FINAL", "FAILED_RETRYABLE"]).toContain(recordOf(bench).state);
  });

  test("while an idempotent write waits for its next attempt closes it in doubt", async () => {
    const abort = new AbortController();
    const { tool, keys } = toolOf([() => failing("TIMEOUT", { retryAfterMs: 20_000 }), works], {
      ...IDEMPOTENT,
      runtime: { maxRetries: 1 },
    });
    const bench = benchFor([tool]);
    const pending = bench.ask(NAME, ARGS, { ...AT, signal: abort.signal });
    await drainPromises();
    abort.abort();
    expect(await pending).toMatchObject(expired);
    expect([keys.length, bench.clock.waiting]).toEqual([1, 0]);
  });

  test.each([
    ["a write", {}],
    ["an idempotent write", IDEMPOTENT],
  ])("before it takes up %s of an earlier life closes it in doubt", async (_name, change) => {
    const { tool, keys } = toolOf([never, works], { ...change, reconcile: COMMITTED });
    const [left] = await leave(tool);
    const record = left as ToolInvocationRecord;
    for (const one of [record, { ...record, awaitedUntilMs: 9 }]) {
      const bench = benchFor([tool], { stored: [one] });
      const signal = AbortSignal.abort();
      expect(await bench.ask(NAME, ARGS, { ...AT, signal })).toMatchObject(expired);
    }
    expect(keys.length).toBe(1);
  });

  test("before it takes up a read of an earlier life leaves no doubt", async () => {
    const { tool } = toolOf([never, works], AS_READ);
    const bench = benchFor([tool], { stored: await leave(tool) });
    const outcome = await bench.ask(NAME, ARGS, { ...AT, signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ state: "FAILED_FINAL", response: { escalate: false } });
  });

  test("just before a write begins had no effect", async () => {
    const abort = new AbortController();
    class Journal extends MemoryJournal {
      override secure(): Promise<void> {
        abort.abort();
        return super.secure();
      }
    }
    const { tool, keys } = toolOf([works]);
    const journal = new Journal();
    const bench = benchFor([tool], { journal });
    expect(await bench.ask(NAME, ARGS, { ...AT, signal: abort.signal })).toMatchObject({
      state: "FAILED_FINAL",
      response: { escalate: false },
    });
    expect(keys).toEqual([]);
  });
});

describe("when meanwhile", () => {
  test("the version of a tool is another, neither is a write made again nor the new one asked", async () => {
    const { tool, keys } = toolOf([never, works], IDEMPOTENT);
    const stored = await leave(tool);
    for (const change of [IDEMPOTENT, { reconcile: COMMITTED }, AS_READ]) {
      const next = toolOf([works], { ...change, version: "2.0.0" });
      const bench = benchFor([next.tool], { stored });
      expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
      expect(next.keys).toEqual([]);
      expect(bench.journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    }
    expect(keys.length).toBe(1);
  });

  test("a read has become a write, it is no question", async () => {
    const { tool } = toolOf([never], AS_READ);
    const stored = await leave(tool);
    const next = toolOf([works], { version: "2.0.0" });
    const bench = benchFor([next.tool], { stored });
    expect(endOf((await bench.ask(NAME, ARGS, AT)) as never)[0]).toBe("SIGNATURE_MISMATCH");
    expect([next.keys.length, recordOf(bench).state]).toEqual([0, "FAILED_FINAL"]);
  });

  test("the policy has withdrawn the tool, an idempotent write stays in doubt and a read is refused", async () => {
    const policy = { allowedTools: [] };
    const write = toolOf([never, works], IDEMPOTENT);
    const bench = benchFor([write.tool], { policy, stored: await leave(write.tool) });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    const read = toolOf([never, works], AS_READ);
    const other = benchFor([read.tool], { policy, stored: await leave(read.tool) });
    expect(endOf((await other.ask(NAME, ARGS, AT)) as never)[0]).toBe("POLICY_VIOLATION");
    expect([write.keys.length, read.keys.length]).toEqual([1, 1]);
  });

  test("the tool is gone, a write waits for an operator and a read has failed", async () => {
    const { tool: other } = noteTool({ name: "test__other" });
    const write = toolOf([never], IDEMPOTENT);
    const bench = benchFor([other], { stored: await leave(write.tool) });
    expect(await bench.ask(NAME, ARGS, AT)).toBe("waiting");
    expect(recordOf(bench)).toMatchObject({ state: "PENDING", awaitedUntilMs: expect.any(Number) });
    const read = toolOf([never], AS_READ);
    const gone = benchFor([other], { stored: await leave(read.tool) });
    expect(endOf((await gone.ask(NAME, ARGS, AT)) as never)).toEqual([
      "STRUCTURAL_VIOLATION",
      "unknown_tool",
    ]);
  });

  test("the user has spoken, what was begun goes on", async () => {
    const inbox = { hasSteering: true };
    for (const change of [AS_READ, IDEMPOTENT]) {
      const { tool } = toolOf([never, works], change);
      const bench = benchFor([tool], { inbox, stored: await leave(tool) });
      expect(await bench.ask(NAME, ARGS, AT)).toMatchObject({ ok: true });
    }
  });
});

describe("an operator tells what became of a call", () => {
  const settled = async (
    outcome: "committed" | "not_committed" | "expired",
    contracts: unknown,
  ) => {
    const { tool, keys } = toolOf([never, works]);
    const [left] = await leave(tool);
    const settlement = { outcome, by: ANN, atMs: 8 };
    const stored = [{ ...(left as ToolInvocationRecord), awaitedUntilMs: 9, settlement }];
    const bench = benchFor([contracts ?? tool], { stored });
    const result = await bench.call(NAME, ARGS, AT);
    expect(keys.length).toBe(1);
    expect(bench.journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    return { result, record: recordOf(bench) };
  };
  const { tool: other } = noteTool({ name: "test__other" });

  test.each([undefined, other])("it happened", async (contracts) => {
    const { result, record } = await settled("committed", contracts);
    expect(record.state).toBe("COMPLETED");
    expect(result).toMatchObject({
      ok: true,
      state: "COMPLETED",
      observation: {
        tool_identity: { version: "1.0.0" },
        execution_metadata: { idempotency_hit: true },
        result_payload: { data: null },
      },
    });
    expect(result.value).toBeUndefined();
    expect(result.observation.result_payload.warnings[0]).toContain("operator confirmed");
  });

  test.each([undefined, other])("it did not happen", async (contracts) => {
    const { result, record } = await settled("not_committed", contracts);
    expect(record.state).toBe("FAILED_RETRYABLE");
    expect(result.response).toMatchObject({ retryable: true, escalate: false });
    const codes = result.observation.result_payload.errors.map(({ code }) => code);
    expect(codes).toEqual(["interrupted", "not_committed"]);
  });

  test.each([undefined, other])("nobody told in time", async (contracts) => {
    const { result, record } = await settled("expired", contracts);
    expect(record.state).toBe("EXPIRED");
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "outcome_unknown"]);
    expect(result.response).toMatchObject({
      retryable: false,
      escalate: true,
      next_action: "reconcile_outcome",
    });
  });

  test("as long as nobody has, every life waits, and asks once", async () => {
    const { tool, keys } = toolOf([never, works]);
    const [left] = await leave(tool);
    const stored = [{ ...(left as ToolInvocationRecord), awaitedUntilMs: 9 }];
    const bench = benchFor([tool], { stored });
    expect([await bench.ask(NAME, ARGS, AT), await bench.ask(NAME, ARGS, AT)]).toEqual([
      "waiting",
      "waiting",
    ]);
    expect([bench.journal.events, keys.length]).toEqual([[], 1]);
  });
});

describe("the same operation asked for again", () => {
  test("while it is in hand is a conflict, and changes nothing of it", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { tool, keys } = toolOf([() => promise]);
    const bench = benchFor([tool]);
    const first = bench.ask(NAME, ARGS, AT);
    await drainPromises();
    const before = recordOf(bench);
    const second = await bench.call(NAME, ARGS, AT);
    expect(endOf(second)).toEqual(["IDEMPOTENCY_CONFLICT", "in_progress"]);
    expect(second).toMatchObject({ state: "PENDING", errorCode: "execution" });
    expect(second.response).toMatchObject({ retryable: true, escalate: false });
    expect(recordOf(bench)).toBe(before);
    resolve(ok({ text: "done" }));
    expect(await first).toMatchObject({ ok: true });
    expect(keys.length).toBe(1);
    expect(bench.journal.events.filter(({ type }) => type === "tool_call_result").length).toBe(1);
  });

  test("before it had its turn is a conflict too", async () => {
    const { tool, keys } = toolOf([works]);
    const bench = benchFor([tool]);
    const [first, second] = [bench.ask(NAME, ARGS, AT), bench.ask(NAME, ARGS, AT)];
    expect(await first).toMatchObject({ ok: true });
    expect(endOf((await second) as never)[0]).toBe("IDEMPOTENCY_CONFLICT");
    expect(keys.length).toBe(1);
  });

  test.each([
    ["in this life", []],
    ["in another life", "again"],
  ])("after its end, %s, is answered with what came of it", async (_name, again) => {
    const { tool, keys } = toolOf([works]);
    const first = benchFor([tool]);
    const done = await first.call(NAME, ARGS, AT);
    const stored = first.journal.records;
    const bench = again === "again" ? benchFor([tool], { stored }) : first;
    const events = bench.journal.events.length;
    const result = await bench.call(NAME, ARGS, AT);
    expect(result.observation.execution_metadata.idempotency_hit).toBe(true);
    const { execution_metadata: _then, ...shown } = done.observation;
    expect(result.observation).toMatchObject(shown);
    expect(result).toMatchObject({ ok: true, state: "COMPLETED", value: { text: "done" } });
    expect([keys.length, bench.journal.events.length]).toEqual([1, events]);
  });

  test("cut off where it was whole is turned away", async () => {
    const { tool } = toolOf([works]);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    const [record] = bench.journal.records;
    const stored = [{ ...(record as ToolInvocationRecord), truncated: true }];
    const result = await benchFor([tool], { stored }).call(NAME, ARGS, AT);
    expect(endOf(result)[0]).toBe("SIGNATURE_MISMATCH");
  });

  // Mutant: answering other arguments with what came of the first.
  test.each([
    ["other arguments", NAME, { text: "other" }],
    ["another tool", "test__other", ARGS],
  ])("with %s is turned away, and changes nothing of it", async (_name, name, args) => {
    const { tool: other, reached } = noteTool({ name: "test__other" });
    const { tool, keys } = toolOf([never, works]);
    const stored = await leave(tool);
    const ended = benchFor([tool, other]);
    await passing(ended.ask(NAME, ARGS, { ...AT, step: 2 }), ended.clock);
    for (const records of [
      stored,
      [{ ...(stored[0] as ToolInvocationRecord), awaitedUntilMs: 9 }],
    ]) {
      const bench = benchFor([tool, other], { stored: records });
      const result = await bench.call(name, args, AT);
      expect(endOf(result)).toEqual(["SIGNATURE_MISMATCH", "other_payload"]);
      expect(result).toMatchObject({ ok: false, state: "PENDING" });
      expect([bench.journal.records, bench.journal.events]).toEqual([[], []]);
    }
    const result = await ended.call(name, args, { ...AT, step: 2 });
    expect(endOf(result)[0]).toBe("SIGNATURE_MISMATCH");
    expect(result.value).toBeUndefined();
    expect([keys.length, reached.length]).toEqual([2, 0]);
  });
});

describe("before a write runs", () => {
  test("its record is durable, dispatched, and under the key that the tool gets", async () => {
    const seen: unknown[] = [];
    const { tool, keys } = toolOf([() => (seen.push(bench.journal.secured.at(-1)), works())]);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    expect(seen).toMatchObject([
      [
        {
          state: "PENDING",
          dispatches: 1,
          amounts: {},
          binding: { idempotencyKey: keys[0], mutates: true, version: "1.0.0", args: ARGS },
        },
      ],
    ]);
  });

  test("it is durable that it runs again", async () => {
    const seen: unknown[] = [];
    const { tool } = toolOf(
      [never, () => (seen.push(bench.journal.secured.at(-1)?.[0]?.dispatches), works())],
      { ...IDEMPOTENT, runtime: { maxRetries: 1 } },
    );
    const bench = benchFor([tool]);
    await passing(bench.ask(NAME, ARGS, AT), bench.clock);
    expect(seen).toEqual([2]);
  });

  test("it does not run when that cannot be made durable", async () => {
    class Journal extends MemoryJournal {
      override secure(): Promise<void> {
        return Promise.reject(new Error("s3cret"));
      }
    }
    const { tool, keys } = toolOf([works]);
    const bench = benchFor([tool], { journal: new Journal() });
    const result = await bench.call(NAME, ARGS, AT);
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
    expect([keys.length, result.state]).toEqual([0, "FAILED_FINAL"]);
  });

  test("a read waits for no storage", async () => {
    const { tool } = toolOf([works], AS_READ);
    const bench = benchFor([tool]);
    await bench.call(NAME, ARGS, AT);
    expect(bench.journal.secured).toEqual([]);
  });
});
