import { describe, expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import { RunBudget } from "../../../src/runner/budget/of-run.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";
import {
  benchFor,
  endOf,
  ledgerThat,
  type BenchSettings,
  type Closed,
} from "../../../src/testing/fakes/runner-ports.ts";
import { AS_READ, noteTool, readTool } from "../../shared/tools.ts";

const ANSWERS = [() => ok({ text: "a" })];
const ID = "run_1/1:call_1";
const LIMITED = { allowedTools: ["test__note", "test__read"], tenantBudgets: { maxReads: 9 } };

describe("a reserved call that never ran", () => {
  test("releases its reservation when the run is cancelled", async () => {
    const abort = new AbortController();
    const closed: Closed[] = [];
    const ledger = ledgerThat(async () => (abort.abort(), { kind: "reserved" }), closed);
    const { tool, reached } = noteTool();
    const bench = benchFor([tool], { ledger });
    const result = await bench.call("test__note", { text: "a" }, { signal: abort.signal });
    expect([result.ok, reached, closed]).toEqual([false, [], [[ID, "released"]]]);
  });

  test("releases its reservation when the operation has another payload", async () => {
    const { tool, reached } = noteTool();
    const stored: ToolInvocationRecord = {
      number: 1,
      toolCallId: "call_1" as never,
      step: 1,
      part: 0,
      name: "test__note",
      argumentsText: '{"text":"a"}',
      truncated: false,
      state: "PENDING",
      dispatches: 0,
      askedAtMs: 1,
      binding: {
        version: "1.0.0",
        payloadHash: "sha256:other",
        idempotencyKey: "another",
        mutates: true,
        dataClass: "internal" as const,
        owner: "test",
        shownArgs: {},
      },
    };
    const bench = benchFor([tool], { stored: [stored] });
    const result = await bench.call("test__note", { text: "a" });
    expect(endOf(result)[0]).toBe("SIGNATURE_MISMATCH");
    expect([reached, bench.closed]).toEqual([[], [[ID, "released"]]]);
  });

  test("releases its reservation when the ledger's answer is unavailable", async () => {
    const unavailable = { kind: "unavailable" } as const;
    const { tool } = noteTool({ runtime: { maxRetries: 0 } });
    const bench = benchFor([tool], { ledgerAnswers: [unavailable] });
    await bench.call("test__note", { text: "a" });
    expect(bench.closed).toEqual([[ID, "released"]]);
  });

  test("leaves its share of the run's budget to the next call", async () => {
    const exhausted = { kind: "exhausted", budget: "writes" } as const;
    const { tool, reached } = noteTool();
    const policy = { allowedTools: ["test__note"], budgets: { maxWrites: 1 } };
    const bench = benchFor([tool], { policy, ledgerAnswers: [exhausted] });
    expect((await bench.call("test__note", { text: "a" })).ok).toBe(false);
    expect((await bench.call("test__note", { text: "b" })).ok).toBe(true);
    expect(endOf(await bench.call("test__note", { text: "c" }))[0]).toBe("BUDGET_EXHAUSTED");
    expect(reached.length).toBe(1);
  });

  test("is not counted in the next incarnation of its run", () => {
    const budget = new RunBudget({ policy: policyOf({ allowedTools: [] }) });
    const record = { name: "t", askedAtMs: 1, step: 1, toolCallId: "a", amounts: { writes: 1 } };
    budget.restore({ ...record, dispatches: 0, end: {} } as never);
    expect(budget.spent.writes ?? 0).toBe(0);
    budget.restore({ ...record, dispatches: 0 } as never);
    budget.restore({ ...record, toolCallId: "b", dispatches: 1, end: {} } as never);
    expect(budget.spent.writes).toBe(2);
  });
});

describe("a call that ran", () => {
  const failing = (code: string, notCommitted: boolean): BenchSettings => {
    const failure = fail({
      taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const,
      errors: [{ field: null, code, message: code }],
      ...(notCommitted && { notCommitted: true as const }),
    });
    return { execute: () => failure } as BenchSettings;
  };

  test.each<[string, object]>([
    ["succeeded", {}],
    ["failed", { ...failing("down", true), runtime: { maxRetries: 0 } }],
    ["has an unknown outcome", { ...failing("gone", false), runtime: { maxRetries: 0 } }],
  ])(
    "keeps its reservation without another request when it may have changed something: it %s",
    async (_, change) => {
      const { tool } = noteTool(change);
      const bench = benchFor([tool]);
      await bench.ask("test__note", { text: "a" });
      expect([bench.reservations.length, bench.closed]).toEqual([1, []]);
      expect(bench.reservations[0]).not.toHaveProperty("unsettled");
    },
  );

  test("settles a read, and an unsettled read is released except for its cost", async () => {
    const { tool } = readTool(ANSWERS, {
      runtime: { cost: { currency: "USD", perCall: 0.1, unit: "call" } },
    });
    const bench = benchFor([tool], { policy: LIMITED });
    await bench.call("test__read", {});
    const amounts = { reads: 1, cost: 100_000 };
    expect(bench.reservations[0]).toMatchObject({
      amounts,
      unsettled: { forMs: 17 * 60_000, keeps: { cost: 100_000, financial: 0 } },
    });
    expect(bench.closed).toEqual([[ID, amounts]]);
  });

  test("keeps one reservation across its retries", async () => {
    const { tool, reached } = noteTool({
      ...AS_READ,
      ...failing("down", true),
      runtime: { maxRetries: 2 },
    });
    const bench = benchFor([tool], { policy: LIMITED });
    const ended = bench.call("test__note", { text: "a" });
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      bench.clock.advance(1_000);
    }
    await ended;
    expect(new Set(bench.reservations.map(({ id }) => id))).toEqual(new Set([ID]));
    expect(bench.closed).toEqual([[ID, { reads: 1 }]]);
    expect(reached.length).toBeLessThanOrEqual(3);
  });

  test("asks no ledger when the policy limits none of its amounts", async () => {
    const { tool } = readTool(ANSWERS);
    const bench = benchFor([tool]);
    await bench.call("test__read", {});
    expect([bench.reservations, bench.closed]).toEqual([[], []]);
  });
});
