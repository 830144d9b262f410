import { runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BudgetAmounts } from "../../src/protocol/budget/amounts.ts";
import { OWN_HOST, type OwnVisit } from "../fakes/own-provider.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { png, shortly } from "../shared/file-messages.ts";
import {
  bindings,
  postChat,
  putPolicy,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";
import { PRICES } from "../workers/lab-models.ts";

beforeAll(seedPolicies);
beforeEach(visits);

async function visits(): Promise<readonly string[]> {
  const seen = await (await fetch(`${OWN_HOST}/apart/visits`)).json<readonly OwnVisit[]>();
  return seen.map(({ path, model }) => `${path} ${model}`);
}

function bring(id: string, models: readonly object[], wire = "openai"): Promise<Response> {
  return send(`/v1/providers/${id}`, {
    caller: "supplier",
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      wire,
      baseUrl: `${OWN_HOST}/apart/${id}`,
      apiKey: "key-of-acme",
      models,
    }),
  });
}

const ask = (model: string, content: unknown): Promise<Response> =>
  postChat({ model, messages: [{ role: "user", content }] });

const down = (...models: readonly string[]): ScriptedStep => ({
  text: ["Hello."],
  as: Object.fromEntries(models.map((name) => [name, { status: 503 }])),
});

async function endOf(response: Response): Promise<string> {
  const stream = await response.text();
  const { error, reason } = await stateOf(runIdOf(response));
  const changes = [...stream.matchAll(/"type":"model-changed","from":"([^"]*)","to":"([^"]*)"/g)];
  return [...changes.map(([, from, to]) => `${from} > ${to}`), error?.code ?? reason].join(", ");
}

describe("a model of a tenant's provider that cannot answer", () => {
  beforeAll(async () => {
    const models = [{ name: "big", fallback: ["mid", "org/small"] }, { name: "org/small" }];
    const stored = await bring("own", [...models, { name: "mid" }, { name: "alone" }]);
    expect(stored.status).toBe(204);
  });

  test("hands the step to its fallbacks, which the same provider has", async () => {
    const end = await endOf(await ask("providers/own/big", script(down("big", "mid"))));
    expect(end).toBe(
      "providers/own/big > providers/own/mid, providers/own/mid > providers/own/org/small, stop",
    );
    const path = "/apart/own/chat/completions";
    expect(await visits()).toEqual([`${path} big`, `${path} mid`, `${path} org/small`]);
  });

  test("never hands it to a model of the deployment, also under the same name", async () => {
    await bring("same", [{ name: "big", fallback: ["scripted"] }, { name: "scripted" }]);
    expect(await endOf(await ask("providers/same/big", script(down("big"))))).toContain("stop");
    expect(await visits()).toEqual([
      "/apart/same/chat/completions big",
      "/apart/same/chat/completions scripted",
    ]);
  });

  test("is asked again when it has no fallback, and no other model is", async () => {
    const end = await endOf(await ask("providers/own/alone", script(down("alone"))));
    expect(end).toBe("upstream_status");
    expect(new Set(await visits())).toEqual(new Set(["/apart/own/chat/completions alone"]));
  });
});

describe("a fallback is refused", () => {
  const priced = { name: "b", prices: PRICES };
  test.each([
    ["that the provider does not list", [{ name: "a", fallback: ["b"] }]],
    ["of another provider", [{ name: "a", fallback: ["providers/own/mid"] }]],
    ["of the deployment", [{ name: "a", fallback: ["scripted"] }]],
    ["that is the model itself", [{ name: "a", fallback: ["a"] }]],
    ["that is named twice", [{ name: "a", fallback: ["b", "b"] }, { name: "b" }]],
    ["with prices that the model lacks", [{ name: "a", fallback: ["b"] }, priced]],
    ["without prices that the model has", [{ ...priced, fallback: ["a"] }, { name: "a" }]],
    [
      "with prices in another currency",
      [
        { ...priced, fallback: ["a"] },
        { name: "a", prices: { ...PRICES, currency: "EUR" } },
      ],
    ],
  ])("%s", async (_name, models) => {
    const refused = await bring("refused", models);
    expect([refused.status, await refused.json()]).toEqual([
      422,
      expect.objectContaining({ code: "invalid_request" }),
    ]);
  });
});

describe("a budget counts a model of a tenant's provider", () => {
  let windowSeconds = 2_400_000;
  async function limit(budgets: object, tenantBudgets: object): Promise<void> {
    const { headers } = await send("/v1/policy", { caller: "acme" });
    const window = { windowSeconds: ++windowSeconds };
    const policy = { allowedTools: [], budgets, tenantBudgets: { ...tenantBudgets, ...window } };
    const stored = await putPolicy(policy, { "if-match": headers.get("etag") ?? "" });
    if (stored.status !== 200) throw new Error(await stored.text());
  }
  function counted(): Promise<number> {
    const stub = bindings.TENANTS.get(bindings.TENANTS.idFromName("acme"));
    return runInDurableObject<DurableObject, number>(stub, (_object, { storage: { sql } }) => {
      const query = "SELECT amounts FROM spent WHERE length_ms = ?";
      const [row] = sql.exec<{ amounts: string }>(query, windowSeconds * 1_000).toArray();
      return (JSON.parse(row?.amounts ?? "{}") as BudgetAmounts).cost ?? 0;
    });
  }
  const billed: ScriptedStep = {
    text: ["hi"],
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  };

  test("by its prices, and refuses a call that the money cannot pay", async () => {
    await bring("billed", [{ name: "m1", prices: PRICES }]);
    await limit({}, { maxCost: 1 });
    expect(await endOf(await ask("providers/billed/m1", script(billed)))).toBe("stop");
    expect(await counted()).toBe(100 * PRICES.input + 10 * PRICES.output);
    await visits();
    await limit({}, { maxCost: 0.000_5 });
    const end = await endOf(await ask("providers/billed/m1", script(billed)));
    expect(end).toBe("budget_exhausted");
    expect(await visits()).toEqual([]);
  });

  test("by the prices of the fallback that answered, and holds those of the dearest", async () => {
    const dear = { ...PRICES, input: 200, output: 1_000 };
    const cheap = { name: "m1", prices: PRICES, fallback: ["m2"] };
    await bring("dear", [cheap, { name: "m2", prices: dear }]);
    await limit({}, { maxCost: 10 });
    const step = { ...billed, as: { m1: { status: 503 } } };
    expect(await endOf(await ask("providers/dear/m1", script(step)))).toContain("stop");
    expect(await counted()).toBe(100 * dear.input + 10 * dear.output);
    await limit({}, { maxCost: 0.01 });
    const end = await endOf(await ask("providers/dear/m1", script(billed)));
    expect(end).toBe("budget_exhausted");
  });

  test("in another currency not at all: the run is refused", async () => {
    await bring("euro", [{ name: "m1", prices: { ...PRICES, currency: "EUR" } }]);
    await limit({}, { maxCost: 1 });
    expect(await endOf(await ask("providers/euro/m1", script(billed)))).toBe(
      "model_currency_mismatch",
    );
  });

  test("by the bound of an image that the provider's list gives", async () => {
    await bring("seeing", [{ name: "m1", can: { images: true, maxImageTokens: 1_000 } }]);
    await limit({ maxTokens: 4_000, maxOutputTokens: 300 }, {});
    expect(await endOf(await ask("providers/seeing/m1", [shortly, png]))).toBe("stop");
    await limit({ maxTokens: 1_200, maxOutputTokens: 300 }, {});
    expect(await endOf(await ask("providers/seeing/m1", [shortly, png]))).toBe("budget_exhausted");
  });
});
