import * as v from "valibot";
import { expect, test } from "vitest";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { allowing } from "../refused-call.ts";
import { noteTool } from "../../shared/tools.ts";

test("a call reserves its cost and the amount that it moves", async () => {
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

test("the amount is found in a field whose name contains a slash or a tilde", async () => {
  const input = v.strictObject({ text: v.string(), "a/b~c": v.number() });
  const { tool, reached } = noteTool({ input, amountField: "/a~1b~0c" });
  const { call } = benchFor([tool], { policy: allowing({ budgets: { maxFinancial: 100 } }) });
  const end = endOf(await call("test__note", { text: "a", "a/b~c": 101 }));
  expect([end[0], reached]).toEqual(["BUDGET_EXHAUSTED", []]);
});

test("an amount in another currency than the policy's is refused", async () => {
  const { tool } = noteTool({ amountField: "/amount" });
  const { call } = benchFor([tool], { policy: allowing({ currency: "EUR" }) });
  const end = endOf(await call("test__note", { text: "a", amount: 1 }));
  expect(end).toEqual(["POLICY_VIOLATION", "other_currency"]);
});
