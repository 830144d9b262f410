import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { bindings, govern, postChat, runIdOf, seedPolicies, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

/** Windows of their own keep the tests of one tenant apart. */
let windowSeconds = 2_400_000;
const limitedTo = (maxCost: number, budgets: object = {}): object => ({
  allowedTools: ["core__calculate"],
  budgets,
  tenantBudgets: { maxCost, windowSeconds: ++windowSeconds },
});

/** Millionths that the tenant's object counts in the newest window. */
function counted(): Promise<number> {
  const stub = bindings.TENANTS.get(bindings.TENANTS.idFromName("bendable"));
  return runInDurableObject<DurableObject, number>(stub, (_object, { storage: { sql } }) => {
    const lengthMs = windowSeconds * 1_000;
    const query = "SELECT amounts FROM spent WHERE length_ms = ?";
    const [row] = sql.exec<{ amounts: string }>(query, lengthMs).toArray();
    return (JSON.parse(row?.amounts ?? "{}") as BudgetAmounts).cost ?? 0;
  });
}

async function run(model: string, ...steps: readonly ScriptedStep[]): Promise<string> {
  const body = { model, messages: [{ role: "user", content: script(...steps) }] };
  const response = await postChat(body, "bendable");
  const runId = runIdOf(response);
  await response.text();
  const { reason, error } = await stateOf(runId, "bendable");
  return error?.code ?? reason ?? "";
}

const billed = (prompt: number, completion: number, cached = 0): ScriptedStep => ({
  text: ["hi"],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: cached },
  },
});

describe("a model with prices", () => {
  test("costs what the provider bills, cached input at its own price", async () => {
    await govern(limitedTo(1));
    expect(await run("priced", billed(100, 10, 50))).toBe("stop");
    expect(await counted()).toBe(50 * 2 + 50 * 0.2 + 10 * 10);
  });

  test("stops at the tenant's money, and at the run's", async () => {
    await govern(limitedTo(0.05));
    const all = Array.from({ length: 8 }, () => run("priced", billed(4_000, 200)));
    const ends = await Promise.all(all);
    expect(new Set(ends)).toEqual(new Set(["stop", "budget_exhausted"]));
    expect(await counted()).toBeLessThanOrEqual(50_000);
    await govern(limitedTo(1, { maxCost: 0.02 }));
    const calls = [{ name: "core__calculate", args: '{"expression":"1+1"}' }];
    const step = { ...billed(4_000, 1_000), calls };
    expect(await run("priced", step, step, step)).toBe("budget_exhausted");
    expect(await counted()).toBe(18_000);
  });

  test("gets a shorter answer when the money is short", async () => {
    await govern(limitedTo(1, { maxCost: 0.02 }));
    const echo = { model: "priced", messages: [{ role: "user", content: "echo" }] };
    const stream = await (await postChat(echo, "bendable")).text();
    const [, longest = "0"] = /max_completion_tokens\\":(\d+)/.exec(stream) ?? [];
    expect(Number(longest)).toBeGreaterThan(256);
    expect(Number(longest)).toBeLessThan(2_000);
  });

  test.each<[string, ScriptedStep]>([
    ["no usage", { text: ["hi"], usage: null }],
    ["fewer output tokens than its text has", { text: ["x".repeat(600)], ...usage(900, 4) }],
    ["fewer input tokens than the request has", { text: ["y".repeat(600)], ...usage(1, 30) }],
  ])("costs the bound when the provider reports %s", async (_name, step) => {
    await govern(limitedTo(1, { maxOutputTokens: 1_000 }));
    expect(await run("priced", step)).toBe("stop");
    expect(await counted()).toBeGreaterThan(1_000 * 10);
  });

  test("is refused when its prices are in another currency than the budgets", async () => {
    await govern({ ...limitedTo(1), currency: "EUR" });
    expect(await run("euro", billed(100, 10))).toBe("stop");
    await govern(limitedTo(1));
    expect(await run("euro", billed(1, 1))).toBe("model_currency_mismatch");
    expect(await counted()).toBe(0);
    await govern({ allowedTools: [] });
    expect(await run("euro", billed(1, 1))).toBe("stop");
  });

  test("holds what the dearest model of its fallback list would cost", async () => {
    await govern(limitedTo(0.3));
    expect(await run("cheap", billed(10, 1))).toBe("budget_exhausted");
    await govern(limitedTo(2));
    expect(await run("cheap", billed(100, 10))).toBe("stop");
    expect(await counted()).toBe(110);
    const hands = { status: 503, as: { dear: billed(100, 10) } };
    expect(await run("cheap", hands)).toBe("stop");
    expect(await counted()).toBe(110 + 100 * 200 + 10 * 1_000);
  });
});

test("a model without prices costs no money", async () => {
  await govern(limitedTo(0.000001));
  expect(await run("scripted", billed(100, 10))).toBe("stop");
  expect(await counted()).toBe(0);
});

function usage(prompt_tokens: number, completion_tokens: number) {
  return { usage: { prompt_tokens, completion_tokens } };
}
