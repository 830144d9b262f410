import { expect, test } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { RunBudget } from "../../../src/runner/budget/of-run.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";

const RECORD: ToolInvocationRecord = {
  number: 1,
  toolCallId: "a" as never,
  step: 1,
  part: 0,
  name: "tool",
  argumentsText: "{}",
  truncated: false,
  state: "PENDING",
  dispatches: 3,
  amounts: { writes: 1 },
  askedAtMs: 1_000,
};

const start = (id: string, maxRequests = 9) => ({
  id,
  toolId: "tool",
  rateLimit: { windowSeconds: 10, maxRequests },
  amounts: { writes: 1 },
  nowMs: 2_000,
});

test("amounts of an earlier incarnation stay reserved for their operation", () => {
  const budget = new RunBudget({ policy: { budgets: { maxWrites: 1 } } });
  budget.restore(RECORD);
  expect(budget.reserve(start("1:a"))).toBeUndefined();
  expect(budget.reserve(start("1:b"))).toEqual({ kind: "exhausted", budget: "writes" });
});

test("an operation of an earlier incarnation counts against the tool's rate limit", () => {
  const budget = new RunBudget({ policy: { budgets: {} } });
  budget.restore(RECORD);
  expect(budget.reserve(start("1:a", 1))).toBeUndefined();
  expect(budget.reserve(start("1:b", 1))).toEqual({ kind: "rate_limited", retryAfterMs: 9_000 });
});

test("every attempt of an earlier incarnation after the first counts as a retry", () => {
  const budget = new RunBudget({ policy: { budgets: { maxRetries: 3 } } });
  budget.restore(RECORD);
  expect([budget.takeRetry(), budget.takeRetry()]).toEqual([true, false]);
});

test("an operation without a reservation uses no budget", () => {
  const budget = new RunBudget({ policy: { budgets: { maxWrites: 1, maxRetries: 1 } } });
  const { amounts: _none, ...bare } = RECORD;
  budget.restore({ ...bare, dispatches: 0 });
  expect(budget.reserve(start("1:a", 1))).toBeUndefined();
  expect(budget.takeRetry()).toBe(true);
});

test("an edited operation reserves its new amounts in place of the old ones", () => {
  const budget = new RunBudget({ policy: { budgets: { maxFinancial: 0.0001 } } });
  const paying = (amount: number) => ({ ...start("1:a", 1), amounts: { financial: amount } });
  expect(budget.reserve(paying(60))).toBeUndefined();
  expect(budget.reserve(paying(101))).toEqual({ kind: "exhausted", budget: "financial" });
  expect(budget.spent.financial).toBe(60);
  expect(budget.reserve(paying(100))).toBeUndefined();
  expect(budget.left("financial")).toBe(0);
  budget.release("1:a");
  expect(budget.left("financial")).toBe(100);
});

test("a critical mutation is refused unless the policy sets a budget for it", () => {
  const budgetOf = (budgets: object): RunBudget => {
    const policy = policyOf({ allowedTools: [], budgets });
    return new RunBudget({ policy });
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
