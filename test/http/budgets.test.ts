import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import { invoke, read } from "../shared/invoke.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";
import { rented } from "../workers/lab-prices.ts";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import {
  bindings,
  chat,
  govern,
  postChat,
  runIdOf,
  seedPolicies,
  stateOf,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
replayEachRun();

/** Windows of their own keep the tests of one tenant apart. */
let windowSeconds = 2_500_000;
const limitedTo = (maxTokens: number, budgets: object = {}): object => ({
  allowedTools: ["core__calculate"],
  budgets,
  tenantBudgets: { maxTokens, windowSeconds: ++windowSeconds },
});

/** What the tenant's object counts in the newest window. */
function counted(): Promise<number> {
  const stub = bindings.TENANTS.get(bindings.TENANTS.idFromName("bendable"));
  return runInDurableObject<DurableObject, number>(stub, (_object, { storage: { sql } }) => {
    const [table] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'spent'").toArray();
    const [row] = table
      ? sql
          .exec<{ amounts: string }>(
            "SELECT amounts FROM spent WHERE length_ms = ?",
            windowSeconds * 1_000,
          )
          .toArray()
      : [];
    return (JSON.parse(row?.amounts ?? "{}") as BudgetAmounts).tokens ?? 0;
  });
}

async function run(...steps: readonly ScriptedStep[]) {
  const response = await chat(steps, "bendable");
  const runId = runIdOf(response);
  await response.text();
  const { reason, error, usage } = await stateOf(runId, "bendable");
  return { end: error?.code ?? reason, used: usage.inputTokens + usage.outputTokens };
}

/** What the provider was asked, by a run that repeats it. */
async function askedBy(): Promise<{ readonly max_completion_tokens?: number }> {
  const body = { messages: [{ role: "user", content: "echo" }] };
  const stream = await (await postChat(body, "bendable")).text();
  const [, delta = '""'] = /"textDelta":("(?:[^"\\]|\\.)*")/.exec(stream) ?? [];
  return JSON.parse(JSON.parse(delta) as string) as { max_completion_tokens?: number };
}

const billed = (prompt_tokens: unknown, completion_tokens: unknown): ScriptedStep => ({
  text: ["hi"],
  usage: { prompt_tokens, completion_tokens },
});

test("sixty runs at once do not use more tokens than their tenant has", async () => {
  const limit = 12_000;
  await govern(limitedTo(limit));
  const over = new AbortController();
  const seen: number[] = [];
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      seen.push(await counted());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const watching = watch();
  const ends = await Promise.all(
    Array.from({ length: 60 }, (_, index) => run(billed(300 + index, 100 + (index % 7)))),
  );
  over.abort();
  await watching;
  const used = ends.reduce((sum, each) => sum + each.used, 0);
  expect(used).toBeLessThanOrEqual(limit);
  expect(Math.max(...seen)).toBeLessThanOrEqual(limit);
  expect(await counted()).toBe(used);
  const kinds = new Set(ends.map(({ end }) => end));
  expect(kinds).toEqual(new Set(["stop", "budget_exhausted"]));
});

test("a model call under way holds the tokens of its longest answer", async () => {
  const heldFor = async (maxOutputTokens: number): Promise<number> => {
    await govern(limitedTo(100_000, { maxOutputTokens }));
    const holds = `longest-answer-${maxOutputTokens}`;
    const response = await chat([{ ...billed(40, 2), holds }], "bendable");
    await expect.poll(counted).toBeGreaterThan(0);
    const held = await counted();
    await fetch(releaseUrl(holds));
    await response.text();
    await expect.poll(counted).toBe(42);
    return held;
  };
  const held = await heldFor(1_000);
  expect((await heldFor(4_000)) - held).toBe(3_000);
});

test("a model call is asked for an answer no longer than is left for it", async () => {
  await govern(limitedTo(100_000));
  expect(await askedBy()).toMatchObject({ max_completion_tokens: 4_096 });
  await govern(limitedTo(100_000, { maxOutputTokens: 700 }));
  expect(await askedBy()).toMatchObject({ max_completion_tokens: 700 });
  await govern(limitedTo(2_500));
  const { max_completion_tokens: least = 0 } = await askedBy();
  expect(least).toBeGreaterThanOrEqual(256);
  expect(least).toBeLessThan(2_500);
  await govern(limitedTo(100_000, { maxTokens: 2_500 }));
  expect((await askedBy()).max_completion_tokens).toBe(least);
});

test("a run that nothing limits lets the provider decide how long it answers, unless policy does", async () => {
  await govern({ allowedTools: [] });
  expect(await askedBy()).not.toHaveProperty("max_completion_tokens");
  await govern({ allowedTools: [], budgets: { maxOutputTokens: 55 } });
  expect(await askedBy()).toMatchObject({ max_completion_tokens: 55 });
});

test("a refused model call uses no tokens, and each further attempt gets a new hold", async () => {
  await govern(limitedTo(100_000));
  const again = { status: 503, once: "budgets-503", later: billed(40, 2) };
  expect(await run(again)).toEqual({ end: "stop", used: 42 });
  expect(await counted()).toBe(42);
  await govern(limitedTo(100_000));
  expect(await run({ status: 400 })).toEqual({ end: "upstream_status", used: 0 });
  expect(await counted()).toBe(0);
});

describe("a provider that bills", () => {
  test.each([
    ["nothing", null],
    ["less than nothing", { prompt_tokens: -1_000_000, completion_tokens: -5 }],
    ["more than can be counted", { prompt_tokens: 1e308, completion_tokens: 1 }],
    ["beyond belief", { prompt_tokens: 1e12, completion_tokens: 1 }],
    [
      "beyond what can be added up",
      { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: 1 },
    ],
    ["texts", { prompt_tokens: "0", completion_tokens: "0" }],
    ["fractions", { prompt_tokens: 0.5, completion_tokens: 0.5 }],
    ["half of it", { prompt_tokens: 5 }],
    ["no request at all", { prompt_tokens: 0, completion_tokens: 0 }],
    ["a list", [1, 2]],
  ])("%s is counted at what was held", async (_name, usage) => {
    await govern(limitedTo(100_000, { maxOutputTokens: 1_000 }));
    expect(await run({ text: ["hi"], usage })).toMatchObject({ end: "stop" });
    const total = await counted();
    expect(total).toBeGreaterThan(1_000);
    expect(total).toBeLessThan(3_000);
  });

  test("more than was held is counted at that", async () => {
    await govern(limitedTo(100_000));
    await run(billed(90_000, 20_000));
    expect(await counted()).toBe(110_000);
    expect((await run({ text: ["hi"] })).end).toBe("budget_exhausted");
  });
});

test("an answer that breaks off costs its hold, and the next attempt its reported usage", async () => {
  await govern(limitedTo(100_000));
  const broken = { text: ["half"], breaks: true, once: "budgets-broken", later: billed(1, 1) };
  expect(await run(broken)).toEqual({ end: "stop", used: 2 });
  expect(await counted()).toBeGreaterThan(4_096 + 2);
});

describe("a tool with a price per second holds its deadline and then costs its time", () => {
  const POLICY = { allowedTools: ["lab__rent_machine"] };
  const rent = async (what: string): Promise<string> => {
    const answer = await read(await invoke("lab__rent_machine", { what }, { caller: "bendable" }));
    return answer.observation?.status.taxonomy_class ?? "none";
  };
  /** The deadline costs 10, so one call fits, and a second one only where the first was short. */
  const MAX_COST = 19.9;

  test.each([
    ["of the run", { budgets: { maxCost: 9.9 } }],
    ["of the tenant", { tenantBudgets: { maxCost: 9.9, windowSeconds: 2_600_001 } }],
  ])("it does not run where the budget %s holds less than its deadline", async (_, limits) => {
    await govern({ ...POLICY, ...limits });
    rented.length = 0;
    expect(await rent("short")).toBe("BUDGET_EXHAUSTED");
    expect(rented).toEqual([]);
  });

  test("short calls leave room for more, and one that runs into its deadline does not", async () => {
    await govern({ ...POLICY, tenantBudgets: { maxCost: MAX_COST, windowSeconds: 2_600_002 } });
    rented.length = 0;
    expect([await rent("a"), await rent("b"), await rent("forever"), await rent("c")]).toEqual([
      "SUCCESS",
      "SUCCESS",
      "TIMEOUT",
      "BUDGET_EXHAUSTED",
    ]);
    expect(rented).toEqual(["a", "b", "forever"]);
  });

  test("calls at the same time hold their deadlines together", async () => {
    await govern({ ...POLICY, tenantBudgets: { maxCost: MAX_COST, windowSeconds: 2_600_003 } });
    rented.length = 0;
    const ends = await Promise.all(["forever", "forever", "forever"].map(rent));
    expect(new Set(ends)).toEqual(new Set(["BUDGET_EXHAUSTED", "TIMEOUT"]));
    expect(rented).toEqual(["forever"]);
  });

  test("calls of one run leave each other what they did not use", async () => {
    await govern({ ...POLICY, budgets: { maxCost: MAX_COST } });
    rented.length = 0;
    const call = (what: string) => ({
      calls: [{ id: what, name: "lab__rent_machine", args: JSON.stringify({ what }) }],
    });
    expect(await run(call("a"), call("forever"), call("b"), { text: ["done"] })).toMatchObject({
      end: "stop",
    });
    expect(rented).toEqual(["a", "forever"]);
  });
});
