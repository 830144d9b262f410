import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor } from "../../../src/testing/fakes/runner-ports.ts";
import { readTool } from "../../shared/tools.ts";

describe("the tenant's ledger", () => {
  const paid = { runtime: { cost: { currency: "USD", perCall: 1, unit: "call" } } };
  const limited = [{ id: "test__read", rateLimit: { windowSeconds: 60, maxRequests: 9 } }];
  test.each<[string, object, object, number]>([
    ["is not asked when no limit applies to the read", {}, paid, 0],
    ["is asked when calls are limited", { tenantBudgets: { maxReads: 1 } }, {}, 1],
    ["is asked when cost is limited", { tenantBudgets: { maxCost: 1 } }, paid, 1],
    [
      "is not asked when cost is limited and the read is free",
      { tenantBudgets: { maxCost: 1 } },
      {},
      0,
    ],
    ["is asked when the rate is limited", { allowedTools: limited }, {}, 1],
  ])("%s", async (_name, more, change, asked) => {
    const { tool } = readTool([() => ok({ text: "read" })], change);
    const policy = { allowedTools: ["test__read"], ...more };
    const { call, reservations } = benchFor([tool], { policy });
    expect((await call("test__read", {})).ok).toBe(true);
    expect(reservations.length).toBe(asked);
  });
});

test("the tenant's ledger is asked for a read's amount of money when money is limited", async () => {
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
