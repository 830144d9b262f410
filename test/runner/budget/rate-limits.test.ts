import { expect, test } from "vitest";
import { RunBudget } from "../../../src/runner/budget/of-run.ts";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../../shared/tools.ts";

test("the contract's rate limit applies within the run", async () => {
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

test("a rate-limited call learns when the window ends", () => {
  const budget = new RunBudget({ policy: { budgets: {} } });
  const rateLimit = { windowSeconds: 10, maxRequests: 1 };
  const start = (id: string, nowMs: number) =>
    budget.reserve({ id, toolId: "t", rateLimit, amounts: { reads: 1 }, nowMs });
  expect(start("a", 1_000)).toBeUndefined();
  expect(start("b", 4_000)).toEqual({ kind: "rate_limited", retryAfterMs: 7_000 });
  expect(start("a", 4_000)).toBeUndefined();
  expect(start("b", 11_000)).toBeUndefined();
});
