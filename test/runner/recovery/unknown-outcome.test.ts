import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor, endOf, passing, type BenchSettings } from "../../fakes/runner-ports.ts";
import { down, never } from "../answers.ts";
import {
  ARGS,
  AT,
  IDEMPOTENT,
  NAME,
  WAYS,
  bringAbout,
  failing,
  leave,
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
] as const)("a %s after a %s", async (_name, way, change, ran, state) => {
  const { tool, keys } = toolOf([WAYS[way], works], { ...change, runtime: { maxRetries: 1 } });
  const { outcome, record } = await bringAbout(way, tool);
  expect(keys.length).toBe(ran);
  expect(new Set(keys).size).toBe(1);
  expect(record).toMatchObject({ state, dispatches: ran });
  expect(outcome === "waiting").toBe(state === "PENDING");
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

describe("an effect that an earlier attempt may have had", () => {
  test("is not forgotten when the next attempt is refused", async () => {
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
      broker: { bind: () => Promise.resolve(ok({}) as never) },
      authorizationOf: () => ({ check: async () => (++asked > 2 ? "no_permission" : "allow") }),
    });
    expect(await passing(ask("test__note", { text: "hi" }), clock)).toBe("waiting");
    expect(asked).toBe(3);
    expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    expect(journal.events.filter(({ type }) => type === "tool_call_start").length).toBe(1);
  });

  test("is no matter when the next attempt tells, or when nothing changes", async () => {
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
