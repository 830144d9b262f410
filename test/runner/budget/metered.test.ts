import { describe, expect, test } from "vitest";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import { RunBudget } from "../../../src/runner/budget/of-run.ts";
import type { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import {
  benchFor,
  endOf,
  type Bench,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";
import { allowing } from "../refused-call.ts";

const DOWN = fail({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [{ field: null, code: "down", message: "down" }],
});
const RUNTIME = {
  cost: { currency: "USD", perCall: 1, unit: "second" },
  timeoutMs: 10_000,
  maxRetries: 0,
};

/** A tool that costs 1 a second and has 10 seconds. All attempts but the last of a list fail. */
function metered(
  change: object,
  settings: BenchSettings = {},
): Bench & {
  readonly takes: (...attemptsMs: readonly number[]) => void;
  readonly reached: number[];
} {
  let clock: FakeClock | undefined;
  const plan: number[] = [];
  const reached: number[] = [];
  const { tool } = noteTool({
    runtime: RUNTIME,
    async execute({ text }: { readonly text: string }) {
      const takesMs = plan.shift() ?? 0;
      reached.push(takesMs);
      clock?.advance(takesMs);
      await Promise.resolve();
      return plan.length > 0 ? DOWN : ok({ text });
    },
    ...change,
  });
  const policy = allowing({ budgets: { maxCost: 25 }, tenantBudgets: { maxCost: 99 } });
  const bench = benchFor([tool], { policy, ...settings });
  clock = bench.clock;
  return { ...bench, reached, takes: (...attemptsMs) => void plan.push(...attemptsMs) };
}

describe("a tool with a price per second", () => {
  test.each<[string, object, string]>([
    ["a write", {}, "writes"],
    ["a read", AS_READ, "reads"],
  ])("%s holds the cost of all its time, and then costs the time that it took", async (...row) => {
    const [, kind, budget] = row;
    const { call, takes, reservations, closed } = metered(kind);
    takes(2_500);
    expect((await call("test__note", { text: "a" })).ok).toBe(true);
    expect(reservations[0]?.amounts).toEqual({ [budget]: 1, cost: 10_000_000 });
    expect(closed).toEqual([["run_1/1:call_1", { [budget]: 1, cost: 2_500_000 }]]);
  });

  test("does not run when its time could cost more than is left", async () => {
    const { call, takes, reached } = metered({});
    const ends: unknown[] = [];
    for (const text of ["a", "b", "c", "d"]) {
      takes(7_600);
      ends.push(endOf(await call("test__note", { text }))[0]);
    }
    // 7.6 and 7.6 are used, so 9.8 of 25 are left; a call may take 10.
    expect(ends).toEqual(["SUCCESS", "SUCCESS", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED"]);
    expect(reached).toEqual([7_600, 7_600]);
  });

  test("costs the time of all its attempts, and nothing between them", async () => {
    const { call, takes, clock, reservations, closed } = metered({
      ...AS_READ,
      runtime: { ...RUNTIME, maxRetries: 1 },
    });
    takes(4_000, 3_000);
    const ended = call("test__note", { text: "a" });
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      clock.advance(1_000);
    }
    expect((await ended).ok).toBe(true);
    expect(reservations[0]?.amounts.cost).toBe(20_000_000);
    expect(closed[0]?.[1]).toEqual({ reads: 1, cost: 7_000_000 });
  });

  test("costs no more than its deadline allows, although it does not answer", async () => {
    const { call, takes, closed } = metered(AS_READ);
    takes(60_000);
    expect(endOf(await call("test__note", { text: "a" }))[0]).toBe("TIMEOUT");
    expect(closed[0]?.[1]).toEqual({ reads: 1, cost: 10_000_000 });
  });

  test("costs all that it reserved after a crash, because nobody measured the first attempt", async () => {
    const stored = {
      number: 1,
      toolCallId: "call_1" as never,
      step: 1,
      part: 0,
      name: "test__note",
      argumentsText: '{"text":"a"}',
      truncated: false,
      state: "PENDING",
      dispatches: 1,
      askedAtMs: 1,
      amounts: { reads: 1, cost: 10_000_000 },
    } as const;
    const { call, takes, closed } = metered(AS_READ, { stored: [stored] });
    takes(1_000);
    expect((await call("test__note", { text: "a" })).ok).toBe(true);
    expect(closed[0]?.[1]).toEqual({ reads: 1, cost: 10_000_000 });
  });

  test("counts in the next incarnation of its run what it used", async () => {
    const { call, takes, journal } = metered({});
    takes(7_600);
    await call("test__note", { text: "a" });
    const budget = new RunBudget({ policy: { budgets: {} } });
    for (const record of journal.records) budget.restore(record);
    expect(budget.spent).toEqual({ writes: 1, cost: 7_600_000 });
  });

  test("costs both attempts, where the contract says that the first one did not happen", async () => {
    const { call, takes, reservations, closed } = metered({
      reconcile: async () => ({ kind: "not_committed" }),
    });
    takes(9_000, 9_500);
    expect((await call("test__note", { text: "a" })).ok).toBe(true);
    expect(reservations[0]?.amounts.cost).toBe(20_000_000);
    expect(closed[0]?.[1]).toEqual({ writes: 1, cost: 18_500_000 });
  });
});
