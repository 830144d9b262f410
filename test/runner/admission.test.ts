import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import type { ToolHook } from "../../src/capabilities/tool.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { limitsOf } from "../../src/protocol/policy/limits.ts";
import { RunBudget } from "../../src/runner/budget/of-run.ts";
import { policyOf } from "../fakes/fakes.ts";
import { ACME, ANN, benchFor, endOf, type BenchSettings } from "../fakes/runner-ports.ts";
import { AS_READ, noteTool, readTool } from "../shared/tools.ts";

const allowing = (more: object = {}): object => ({ allowedTools: ["test__note"], ...more });

/** What a refused call left behind it. */
async function refuse(
  settings: BenchSettings,
  change: object = {},
): Promise<{ end: readonly unknown[]; asked: number; reserved: number; reached: number }> {
  const { tool, reached } = noteTool(change);
  const bench = benchFor([tool], settings);
  const end = endOf(await bench.call("test__note", { text: "hi" }));
  expect(bench.journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
  const { questions, reservations } = bench;
  return { end, asked: questions.length, reserved: reservations.length, reached: reached.length };
}

describe("a gate between the arguments and the tool says no, and nothing after it runs", () => {
  const stale = fail({
    taxonomyClass: "STALE_STATE" as const,
    errors: [{ field: null, code: "moved", message: "it moved" }],
  });
  const cases: readonly [string, object, BenchSettings, readonly string[], number, number][] = [
    [
      "5 semantic rule",
      { rules: [{ code: "too_short", message: "expected more", holds: () => false }] },
      {},
      ["SEMANTIC_INVALIDITY", "too_short"],
      0,
      0,
    ],
    [
      "6 permission",
      {},
      { authorizationOf: () => ({ check: () => Promise.resolve("no_permission") }) },
      ["PERMISSION_DENIED", "no_permission"],
      0,
      0,
    ],
    [
      "6 delegation",
      {},
      { authorizationOf: () => ({ check: () => Promise.resolve("no_delegation") }) },
      ["PERMISSION_DENIED", "no_delegation"],
      0,
      0,
    ],
    [
      "6 an authority that fails",
      {},
      { authorizationOf: () => ({ check: () => Promise.reject(new Error("down")) }) },
      ["PERMISSION_DENIED", "no_permission"],
      0,
      0,
    ],
    [
      "6 a tool that needs a connection without one",
      { requiresConnection: true, capabilities: ["auth"] },
      {},
      ["PERMISSION_DENIED", "no_connection"],
      1,
      0,
    ],
    [
      "7 argument rule",
      {},
      {
        policy: allowing({
          argumentRules: [{ tool: "test__note", field: "/text", must: { equal: "ho" } }],
        }),
      },
      ["POLICY_VIOLATION", "argument_rule"],
      1,
      0,
    ],
    ["8 state", { checkState: () => stale }, {}, ["STALE_STATE", "moved"], 1, 0],
    [
      "8 a state check that throws",
      {
        checkState: () => {
          throw new Error("s3cret");
        },
      },
      {},
      ["UNKNOWN_ERROR", "tool_failed"],
      1,
      0,
    ],
    [
      "10 the run's budget",
      {},
      { policy: allowing({ budgets: { maxWrites: 0 } }) },
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
      1,
      0,
    ],
    [
      "10 the tenant's budget",
      {},
      { ledgerAnswers: [{ kind: "exhausted", budget: "writes" }] },
      ["BUDGET_EXHAUSTED", "budget_exhausted"],
      1,
      1,
    ],
    [
      "10 a ledger that cannot be asked",
      {},
      { ledgerAnswers: [{ kind: "unavailable" }] },
      ["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"],
      1,
      1,
    ],
    [
      "10 no policy to reserve under",
      {},
      { pin: undefined },
      ["POLICY_VIOLATION", "no_policy"],
      1,
      0,
    ],
  ];
  test.each(cases)("%s", async (_name, change, settings, end, asked, reserved) => {
    expect(await refuse(settings, change)).toEqual({
      end,
      asked: "authorizationOf" in settings ? 0 : asked,
      reserved,
      reached: 0,
    });
  });
});

test("a critical mutation has no budget unless policy gives it one", () => {
  const budgetOf = (budgets: object): RunBudget => {
    const policy = policyOf({ allowedTools: [], budgets });
    return new RunBudget(limitsOf(policy.budgets), undefined);
  };
  const rateLimit = { windowSeconds: 1, maxRequests: 9 };
  const start = (id: string) => ({
    id,
    toolId: "t",
    rateLimit,
    amounts: { critical: 1 },
    nowMs: 0,
  });
  const exhausted = { kind: "exhausted", budget: "critical" };
  expect(budgetOf({}).reserve(start("a"))).toEqual(exhausted);
  const one = budgetOf({ maxCritical: 1 });
  expect(one.reserve(start("a"))).toBeUndefined();
  expect(one.reserve(start("a"))).toBeUndefined();
  expect(one.reserve(start("b"))).toEqual(exhausted);
});

test("money is counted: what a call costs, and what it moves", async () => {
  const { tool, reached } = noteTool({
    amountField: "/amount",
    runtime: { cost: { currency: "USD", perCall: 0.1, unit: "call" } },
  });
  const policy = allowing({ budgets: { maxFinancial: 100, maxCost: 0.25 } });
  const { call, reservations } = benchFor([tool], { policy });
  expect((await call("test__note", { text: "a", amount: 60.5 })).ok).toBe(true);
  expect(reservations[0]?.id).toBe("run_1/1:call_1");
  expect(reservations[0]?.amounts).toEqual({ writes: 1, cost: 100_000, financial: 60_500_000 });
  expect(endOf(await call("test__note", { text: "b", amount: 40 }))[0]).toBe("BUDGET_EXHAUSTED");
  expect((await call("test__note", { text: "c", amount: 39.5 })).ok).toBe(true);
  expect(endOf(await call("test__note", { text: "d" }))[0]).toBe("BUDGET_EXHAUSTED");
  expect(endOf(await call("test__note", { text: "e", amount: -5 }))[0]).toBe("OUT_OF_BOUNDS");
  const countless = await call("test__note", { text: "f", amount: 1e300 });
  expect(endOf(countless)).toEqual(["OUT_OF_BOUNDS", "not_an_amount"]);
  expect(reached.length).toBe(2);
});

test("money is found in a field whose name holds a slash or a tilde", async () => {
  const input = v.strictObject({ text: v.string(), "a/b~c": v.number() });
  const { tool, reached } = noteTool({ input, amountField: "/a~1b~0c" });
  const { call } = benchFor([tool], { policy: allowing({ budgets: { maxFinancial: 100 } }) });
  const end = endOf(await call("test__note", { text: "a", "a/b~c": 101 }));
  expect([end[0], reached]).toEqual(["BUDGET_EXHAUSTED", []]);
});

test("money that a read moves is asked of the tenant, as its cost is", async () => {
  const input = v.strictObject({ id: v.number() });
  const { tool } = readTool([() => ok({ text: "up" })], { input, amountField: "/id" });
  const allowedTools = ["test__read"];
  const limited = { allowedTools, tenantBudgets: { maxFinancial: 5 } };
  for (const [policy, asked] of [[{ allowedTools }, 0] as const, [limited, 1] as const]) {
    const { call, reservations } = benchFor([tool], { policy });
    expect((await call("test__read", { id: 3 })).ok).toBe(true);
    expect(reservations.length).toBe(asked);
  }
});

test("money of another currency than policy's does not move", async () => {
  const { tool } = noteTool({ amountField: "/amount" });
  const { call } = benchFor([tool], { policy: allowing({ currency: "EUR" }) });
  const end = endOf(await call("test__note", { text: "a", amount: 1 }));
  expect(end).toEqual(["POLICY_VIOLATION", "other_currency"]);
});

describe("a mutation also passes the policy that is current", () => {
  const changed: ReservationAnswer = {
    kind: "policy_changed",
    pin: { revision: 2, hash: "sha256:2" },
  };
  const current = (document: object): PolicyStore => ({
    load: () => Promise.reject(new Error("the pointer is not to be asked")),
    learn: () => {},
    read: (_tenant, pin) => Promise.resolve({ policy: policyOf(document), pin }),
  });
  test.each([
    ["takes the tool away", { allowedTools: [] }, ["POLICY_VIOLATION", "not_allowed"]],
    [
      "has a rule now",
      allowing({ argumentRules: [{ tool: "test__note", field: "/text", must: { equal: "ho" } }] }),
      ["POLICY_VIOLATION", "argument_rule"],
    ],
  ])("which %s", async (_name, document, end) => {
    const settings = { ledgerAnswers: [changed], policies: current(document) };
    expect(await refuse(settings)).toMatchObject({ end, reserved: 1, reached: 0 });
  });

  test.each([
    ["still grants its connection", ["mail"], "SUCCESS"],
    ["grants it no longer", [], "PERMISSION_DENIED"],
    ["grants another one alone", ["other"], "PERMISSION_DENIED"],
  ])("which %s", async (_name, granted, end) => {
    const { tool } = noteTool({ requiresConnection: true, capabilities: ["auth"] });
    const granting = (ids: readonly string[]) =>
      allowing({ grants: ids.map((connectionId) => ({ connectionId, tools: ["test__note"] })) });
    const { call } = benchFor([tool], {
      policy: granting(["mail"]),
      policies: current(granting(granted)),
      ledgerAnswers: [changed],
      connectionIds: ["mail", "other"] as never,
      broker: { bind: () => Promise.resolve(ok({}) as never) },
    });
    expect(endOf(await call("test__note", { text: "hi" }))[0]).toBe(end);
  });

  const priced = { runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } } };
  test.each([
    ["lowers a limit of the run", { budgets: { maxWrites: 0 } }, {}, "budget_exhausted"],
    ["lowers the money of the run", { budgets: { maxCost: 0.5 } }, priced, "budget_exhausted"],
    ["counts another currency", { currency: "EUR" }, priced, "other_currency"],
  ])("which %s", async (_name, more, change, code) => {
    const settings = { ledgerAnswers: [changed], policies: current(allowing(more)) };
    const { end, reached } = await refuse(settings, change);
    expect([end[1], reached]).toEqual([code, 0]);
  });

  test("and the pinned one stays its ceiling: of two limits the lower one holds", async () => {
    const rate = (maxRequests: number, windowSeconds = 60) => ({
      allowedTools: [{ id: "test__note", rateLimit: { windowSeconds, maxRequests } }],
    });
    const reserve = async (pinned: object, later: object) => {
      const { tool } = noteTool();
      const settings = { policy: pinned, ledgerAnswers: [changed], policies: current(later) };
      const { call, reservations } = benchFor([tool], settings);
      expect((await call("test__note", { text: "hi" })).ok).toBe(true);
      return reservations[1];
    };
    const limits = await reserve(
      allowing({ tenantBudgets: { maxWrites: 5, maxReads: 9 } }),
      allowing({ tenantBudgets: { maxWrites: 50, maxReads: 2, maxExternal: 3 } }),
    );
    expect(limits?.limits).toEqual({ writes: 5, reads: 2, external: 3, critical: 0 });
    const ten = { windowSeconds: 60, maxRequests: 10 };
    expect((await reserve(rate(10), rate(20)))?.rateLimit).toEqual(ten);
    expect((await reserve(rate(20), rate(10)))?.rateLimit).toEqual(ten);
    expect((await reserve(rate(10), allowing()))?.rateLimit).toEqual(ten);
    expect((await reserve(rate(10), rate(20, 6)))?.rateLimit).toEqual(ten);
  });

  test("which is known to the isolate from then on", async () => {
    const learnt: unknown[] = [];
    const policies = {
      ...current(allowing()),
      learn: (...said: unknown[]) => void learnt.push(said),
    };
    const { tool } = noteTool();
    const { call } = benchFor([tool], { ledgerAnswers: [changed], policies });
    expect((await call("test__note", { text: "hi" })).ok).toBe(true);
    expect(learnt).toEqual([[ACME, { revision: 2, hash: "sha256:2" }]]);
  });

  test("and is counted under it", async () => {
    const { tool, reached } = noteTool();
    const policies = current(allowing({ tenantBudgets: { maxWrites: 7 } }));
    const { call, reservations } = benchFor([tool], { ledgerAnswers: [changed], policies });
    expect((await call("test__note", { text: "hi" })).ok).toBe(true);
    expect(reservations.map(({ pin, limits }) => [pin.revision, limits.writes])).toEqual([
      [1, undefined],
      [2, 7],
    ]);
    expect(reached.length).toBe(1);
  });

  test("and stops when there is none any more, or no end of changes", async () => {
    const gone: ReservationAnswer = { kind: "policy_changed", pin: undefined };
    expect(await refuse({ ledgerAnswers: [gone] })).toMatchObject({
      end: ["POLICY_VIOLATION", "no_policy"],
    });
    const restless = {
      ledgerAnswers: Array.from({ length: 9 }, () => changed),
      policies: current(allowing()),
    };
    expect(await refuse(restless)).toMatchObject({
      end: ["DEPENDENCY_UNAVAILABLE", "ledger_unavailable"],
      reached: 0,
    });
  });
});

test("the contract's own rate limit holds for the run", async () => {
  const { tool, reached } = noteTool({
    runtime: { rateLimit: { windowSeconds: 60, maxRequests: 2 } },
  });
  const { call, clock } = benchFor([tool]);
  const texts = ["a", "b", "c"];
  const ends: unknown[] = [];
  for (const text of texts) ends.push(endOf(await call("test__note", { text }))[0]);
  expect(ends).toEqual(["SUCCESS", "SUCCESS", "RATE_LIMITED"]);
  clock.advance(60_000);
  expect((await call("test__note", { text: "d" })).ok).toBe(true);
  expect(reached.length).toBe(3);
});

describe("hooks", () => {
  const veto = { code: "frozen", message: "no changes on Fridays" };
  test.each<[string, ToolHook, readonly string[]]>([
    ["veto", { before: () => Promise.resolve(veto) }, ["POLICY_VIOLATION", "frozen"]],
    [
      "veto by breaking",
      {
        before: () => {
          throw new Error("s3cret");
        },
      },
      ["POLICY_VIOLATION", "hook_failed"],
    ],
  ])("a call before it is counted: %s", async (_name, hook, end) => {
    const never: ToolHook = { before: () => Promise.reject(new Error("asked after a veto")) };
    expect(await refuse({ hooks: [hook, never] })).toEqual({
      end,
      asked: 1,
      reserved: 0,
      reached: 0,
    });
  });

  test("are shown redacted arguments before the call, and what it would run with", async () => {
    const seen: unknown[] = [];
    const hook: ToolHook = {
      before: async ({ args, context }) => {
        seen.push(args, context.subjectId);
        return undefined;
      },
    };
    const { tool } = noteTool();
    const principal = {
      tenantId: ACME,
      actorId: ANN,
      subjectId: "user:bob" as never,
      roles: [],
      scopes: [],
    };
    const { call } = benchFor([tool], { hooks: [hook], principal });
    expect((await call("test__note", { text: "hi", amount: 3 })).ok).toBe(true);
    expect(seen).toEqual([{ text: "hi" }, "user:bob"]);
  });

  test("withhold a result, and the model learns that the tool ran", async () => {
    const { tool, reached } = noteTool();
    const seen: unknown[] = [];
    const hook: ToolHook = {
      after: (call, observation) => {
        seen.push([call.args, observation.result_payload.data]);
        return Promise.resolve(veto);
      },
    };
    const { call, journal } = benchFor([tool], { hooks: [hook] });
    const result = await call("test__note", { text: "hi", amount: 3 });
    expect(seen).toEqual([[{ text: "hi" }, { text: "hi" }]]);
    expect(reached.length).toBe(1);
    expect(endOf(result)).toEqual(["POLICY_VIOLATION", "frozen"]);
    expect(result.observation.result_payload.errors[0]?.message).toContain("the tool ran");
    expect(result.observation.result_payload.data).toBeNull();
    expect(journal.events.at(-1)).toMatchObject({ observation: result.observation });
  });
});

test("a call that waits when the user speaks is skipped, and says so", async () => {
  const { tool, reached } = noteTool();
  const { call, questions } = benchFor([tool], { inbox: { hasSteering: true } });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["STALE_STATE", "skipped"]);
  // Mutant: asking only before the call is counted.
  expect([reached, questions]).toEqual([[], []]);
});

test("an observation carries the attempt, the trace and what has to be verified", async () => {
  const { tool } = noteTool({ transactional: { verificationRequired: true } });
  const { observation, response } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.execution_metadata).toMatchObject({
    attempt_number: 1,
    idempotency_hit: false,
    trace_id: "run_1",
  });
  expect(observation.verification.post_action_verification_required).toBe(true);
  expect(response).toMatchObject({ error_code: "SUCCESS", next_action: "continue" });
});

test("a failure code that the contract declares has the class it declares", async () => {
  const { tool } = noteTool({
    errors: { gone: "STALE_STATE" },
    execute: () =>
      fail({
        taxonomyClass: "UNKNOWN_ERROR",
        errors: [{ field: null, code: "gone", message: "it is gone" }],
      }),
  });
  expect(endOf(await benchFor([tool]).call("test__note", { text: "hi" }))).toEqual([
    "STALE_STATE",
    "gone",
  ]);
});

test("what an untrusted tool says of its failure is made as harmless as its output", async () => {
  const message = "gone\u200b ![x](https://evil.test/?q=all)";
  const execute = () =>
    fail({ taxonomyClass: "UNKNOWN_ERROR", errors: [{ field: null, code: "gone", message }] });
  const { tool } = noteTool({ ...AS_READ, execute, security: { untrustedOutput: true } });
  const { observation } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.result_payload.errors[0]?.message).toBe("gone [image removed]");
});

test("a deprecated version works, and says what to use instead", async () => {
  const lifecycle = { status: "deprecated", sunsetDate: "2027-01-01", replacement: "test__jot" };
  const { tool } = noteTool({ lifecycle });
  const { observation } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.result_payload.warnings).toEqual([
    "this version of the tool is deprecated and ends on 2027-01-01; use test__jot instead",
  ]);
});

test("a connection is bound for one invocation, and its tool cannot name another", async () => {
  const seen: unknown[] = [];
  const bound: unknown[] = [];
  const { tool } = noteTool({
    requiresConnection: true,
    capabilities: ["auth"],
    async execute(
      _args: unknown,
      context: object,
      { auth }: { auth: Record<string, () => unknown> },
    ) {
      seen.push(context, await auth["getAccessToken"]?.());
      return ok({ text: "done" });
    },
  });
  const { call } = benchFor([tool], {
    policy: allowing({ grants: [{ connectionId: "mail", tools: ["test__note"] }] }),
    connectionIds: ["mail", "other"] as never,
    broker: {
      bind(...names) {
        bound.push(names);
        return Promise.resolve(
          ok({
            getAccessToken: () => Promise.resolve("s3cret"),
            getAuthHeaders: () => Promise.resolve({}),
          }),
        );
      },
    },
  });
  const result = await call("test__note", { text: "hi" });
  expect(result.ok).toBe(true);
  expect(bound).toEqual([["acme", "mail", expect.any(AbortSignal)]]);
  expect(seen).toEqual([expect.objectContaining({ connectionId: "mail" }), "s3cret"]);
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test("who may run a tool is asked with the scopes of its contract and of policy", async () => {
  const { tool } = noteTool({ security: { requiredScopes: ["notes:write"] } });
  const policy = { allowedTools: [{ id: "test__note", scopes: ["staff"] }] };
  const { call, questions } = benchFor([tool], { policy });
  await call("test__note", { text: "hi" });
  expect(questions.map(({ requiredScopes }) => requiredScopes)).toEqual([["notes:write", "staff"]]);
});

test.each([
  ["more than one that is granted and requested", ["mail", "other"], "connection_ambiguous"],
  ["one that the caller may not use", ["mail"], "no_permission"],
])("a connection is not chosen among %s", async (_name, granted, code) => {
  const { tool, reached } = noteTool({ requiresConnection: true, capabilities: ["auth"] });
  const grants = granted.map((connectionId) => ({ connectionId, tools: ["test__note"] }));
  const bound: unknown[] = [];
  const { call } = benchFor([tool], {
    policy: allowing({ grants }),
    connectionIds: ["mail", "other"] as never,
    authorizationOf: () => ({
      check: async ({ action }) => (action === "connection.use" ? "no_permission" : "allow"),
    }),
    broker: { bind: async (...names) => (bound.push(names), ok({}) as never) },
  });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["PERMISSION_DENIED", code]);
  expect([reached, bound]).toEqual([[], []]);
});

test("a call whose context would carry a secret does not run", async () => {
  const { tool, reached } = noteTool();
  const id = "sk-0123456789abcdef";
  const result = await benchFor([tool]).call("test__note", { text: "hi" }, { id });
  expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
  expect(reached).toEqual([]);
});

test("a version whose time comes while the run goes on is gone", async () => {
  const lifecycle = { status: "deprecated", sunsetDate: "2026-01-03", replacement: null };
  const { tool } = noteTool({ lifecycle });
  const { call, clock } = benchFor([tool]);
  expect((await call("test__note", { text: "a" })).ok).toBe(true);
  clock.advance(86_400_000);
  const gone = await call("test__note", { text: "b" });
  expect([endOf(gone), gone.errorCode]).toEqual([
    ["STRUCTURAL_VIOLATION", "unknown_tool"],
    "unavailable",
  ]);
});

test.each([
  [300, 200, 200],
  [200, 300, 200],
])(
  "a result of a tool's %i bytes under policy's %i is cut to the fewer",
  async (own, policys, bytes) => {
    const { tool } = noteTool({
      execute: () => ok({ text: "x".repeat(1_000) }),
      runtime: { maxResultBytes: own },
    });
    const { call } = benchFor([tool], {
      policy: allowing({ budgets: { maxResultBytes: policys } }),
    });
    const { value } = await call("test__note", { text: "hi" });
    expect(new TextEncoder().encode(JSON.stringify(value)).byteLength).toBeLessThanOrEqual(bytes);
  },
);

describe("a read asks the tenant's ledger", () => {
  const paid = { runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } } };
  const limited = [{ id: "test__read", rateLimit: { windowSeconds: 60, maxRequests: 9 } }];
  test.each<[string, object, object, number]>([
    ["not where nothing of it is limited", {}, paid, 0],
    ["where its calls are limited", { tenantBudgets: { maxReads: 1 } }, {}, 1],
    ["where its cost is limited", { tenantBudgets: { maxCost: 1 } }, paid, 1],
    ["not where its cost is limited and it has none", { tenantBudgets: { maxCost: 1 } }, {}, 0],
    ["where its rate is limited", { allowedTools: limited }, {}, 1],
  ])("%s", async (_name, more, change, asked) => {
    const { tool } = readTool([() => ok({ text: "read" })], change);
    const policy = { allowedTools: ["test__read"], ...more };
    const { call, reservations } = benchFor([tool], { policy });
    expect((await call("test__read", {})).ok).toBe(true);
    expect(reservations.length).toBe(asked);
  });
});

test("a run's rate limit says how long until its window ends", () => {
  const budget = new RunBudget({}, undefined);
  const rateLimit = { windowSeconds: 10, maxRequests: 1 };
  const start = (id: string, nowMs: number) =>
    budget.reserve({ id, toolId: "t", rateLimit, amounts: { reads: 1 }, nowMs });
  expect(start("a", 1_000)).toBeUndefined();
  expect(start("b", 4_000)).toEqual({ kind: "rate_limited", retryAfterMs: 7_000 });
  expect(start("a", 4_000)).toBeUndefined();
  expect(start("b", 11_000)).toBeUndefined();
});

test.each<[object, RegExp]>([
  [{ equal: "ho" }, /^policy wants this to be one certain value$/],
  [{ haveLengthAtMost: 1 }, /^policy wants this to have a length of at most 1$/],
  [{ beAbsent: true }, /^policy wants this to be left out$/],
])("a broken rule is told in words, without the values of %j", async (must, words) => {
  const { tool } = noteTool();
  const argumentRules = [{ tool: "test__note", field: "/text", must }];
  const { call } = benchFor([tool], { policy: allowing({ argumentRules }) });
  const { observation } = await call("test__note", { text: "hi" });
  expect(observation.result_payload.errors).toEqual([
    { field: "/text", code: "argument_rule", message: expect.stringMatching(words) },
  ]);
});
