import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import {
  benchFor,
  endOf,
  passing,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { down, never } from "../answers.ts";
import {
  ARGS,
  AT,
  IDEMPOTENT,
  NAME,
  INTERRUPTIONS,
  resumeAfter,
  failing,
  crashWhileRunning,
  recordOf,
  toolOf,
  works,
} from "./interrupted-call.ts";
import { AS_READ, noteTool, readTool } from "../../shared/tools.ts";

const twice = { idempotency: { supported: true }, runtime: { maxRetries: 1 } };

test.each([
  ["read", "timeout", AS_READ, 2, "COMPLETED"],
  ["read", "throw", AS_READ, 1, "FAILED_FINAL"],
  ["read", "crash", AS_READ, 2, "COMPLETED"],
  ["idempotent write", "timeout", IDEMPOTENT, 2, "COMPLETED"],
  ["idempotent write", "throw", IDEMPOTENT, 1, "PENDING"],
  ["idempotent write", "crash", IDEMPOTENT, 2, "COMPLETED"],
] as const)("a %s after a %s", async (_name, interruption, change, ran, state) => {
  const { tool, keys } = toolOf([INTERRUPTIONS[interruption], works], {
    ...change,
    runtime: { maxRetries: 1 },
  });
  const { outcome, record } = await resumeAfter(interruption, tool);
  expect(keys.length).toBe(ran);
  expect(new Set(keys).size).toBe(1);
  expect(record).toMatchObject({ state, dispatches: ran });
  expect(outcome === "waiting").toBe(state === "PENDING");
});

describe("an unknown outcome survives the failures of later attempts", () => {
  test.each([
    [
      "nothing happened in the later attempt",
      failing("DEPENDENCY_UNAVAILABLE", { notCommitted: true }),
    ],
    ["the later attempt is forbidden", failing("PERMISSION_DENIED")],
    ["the later attempt is rate limited", failing("RATE_LIMITED")],
    ["the state has changed", failing("STALE_STATE")],
  ])("%s", async (_name, answer) => {
    const { tool, keys } = toolOf([never, () => answer], {
      ...IDEMPOTENT,
      runtime: { maxRetries: 1 },
    });
    const { outcome, record } = await resumeAfter("timeout", tool);
    expect([outcome, keys.length, record.state]).toEqual(["waiting", 2, "PENDING"]);
    const crashed = toolOf([never, () => answer], IDEMPOTENT);
    const taken = await resumeAfter("crash", crashed.tool);
    expect([taken.outcome, taken.record.state]).toEqual(["waiting", "PENDING"]);
  });

  test("until an attempt succeeds, also with an invalid output", async () => {
    const { tool } = toolOf([never, () => ok({ other: 1 })], IDEMPOTENT);
    const { outcome, record } = await resumeAfter("crash", tool);
    expect(endOf(outcome as never)[0]).toBe("OBSERVATION_NORMALIZATION_FAIL");
    expect(record).toMatchObject({ state: "COMPLETED", dispatches: 2 });
  });

  test("until reconcile finds the write not committed", async () => {
    const reconcile = () => ({ kind: "not_committed" });
    const runtime = { maxRetries: 1 };
    const { tool } = toolOf([never], { ...IDEMPOTENT, reconcile, runtime });
    const { outcome, record } = await resumeAfter("timeout", tool);
    expect(record.state).toBe("FAILED_RETRYABLE");
    expect(outcome).toMatchObject({ response: { escalate: false } });
  });

  test.each([
    [
      "the permission check",
      { authorizationOf: () => ({ check: async () => "no_permission" as const }) },
    ],
    ["a hook", { hooks: [{ before: async () => ({ code: "frozen", message: "no" }) }] }],
    ["the ledger", { ledgerAnswers: [{ kind: "exhausted", budget: "tokens" }] }],
    ["a ledger that throws", { ledger: { reserve: () => Promise.reject(new Error("s3cret")) } }],
  ] as readonly [string, BenchSettings][])(
    "and waits for an operator when the retry is refused by %s",
    async (_name, settings) => {
      const { tool, keys } = toolOf([never, works], IDEMPOTENT);
      const stored = await crashWhileRunning(tool);
      const bench = benchFor([tool], { ...settings, stored });
      expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
      expect([keys.length, recordOf(bench).state]).toEqual([1, "PENDING"]);
    },
  );
});

test.each(["IDEMPOTENCY_CONFLICT", "COMPENSATION_REQUIRED", "COMPENSATION_FAILED"])(
  "a write that fails as %s waits for an operator",
  async (taxonomyClass) => {
    const { tool } = toolOf([() => failing(taxonomyClass)]);
    const bench = benchFor([tool]);
    expect(await passing(bench.ask(NAME, ARGS, AT), bench.clock)).toBe("waiting");
    expect(recordOf(bench).state).toBe("PENDING");
  },
);

describe("the possible effect of an earlier attempt", () => {
  test("keeps the outcome unknown when the next attempt is refused", async () => {
    let asked = 0;
    const { tool } = noteTool({
      ...twice,
      requiresConnection: true,
      capabilities: ["auth"],
      execute: () => down(),
    });
    const { ask, clock, journal } = benchFor([tool], {
      policy: {
        allowedTools: ["test__note"],
        grants: [{ connectionId: "mail", tools: ["test__note"] }],
      },
      connectionIds: ["mail"] as never,
      broker: { bind: () => Promise.resolve(ok({ auth: {}, secrets: [] }) as never) },
      authorizationOf: () => ({ check: async () => (++asked > 2 ? "no_permission" : "allow") }),
    });
    expect(await passing(ask("test__note", { text: "hi" }), clock)).toBe("waiting");
    expect(asked).toBe(3);
    expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    expect(journal.events.filter(({ type }) => type === "tool_call_start").length).toBe(1);
  });

  test("is ignored when the next attempt succeeds or when the tool only reads", async () => {
    const answers = [() => down(), () => ok({ text: "up" })];
    const { tool } = noteTool({ ...twice, execute: () => answers.shift()?.() });
    const { call, clock } = benchFor([tool]);
    expect((await passing(call("test__note", { text: "hi" }), clock)).state).toBe("COMPLETED");
    let asked = 0;
    const { tool: read } = readTool([() => down()]);
    const other = benchFor([read], {
      authorizationOf: () => ({ check: async () => (++asked > 1 ? "no_permission" : "allow") }),
    });
    const second = await passing(other.call("test__read", {}), other.clock);
    expect(endOf(second)[0]).toBe("PERMISSION_DENIED");
  });
});
