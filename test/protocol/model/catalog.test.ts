import { describe, expect, test } from "vitest";
import { createModelCatalog } from "../../../src/protocol/model/catalog.ts";
import type { ModelDeclaration } from "../../../src/protocol/model/declaration.ts";

const USD = { currency: "USD", input: 2, cacheWrite: 2.5, output: 10 };
const A: ModelDeclaration = { id: "a", wire: "responses", name: "gpt-6.1-terra" };
const B: ModelDeclaration = { id: "b", wire: "anthropic", name: "claude-sonnet-5" };

function problemsOf(declared: readonly unknown[], list?: string): readonly string[] {
  const catalog = createModelCatalog(declared as readonly ModelDeclaration[], list);
  return catalog.ok ? [] : catalog.failure;
}

function catalogOf(declared: readonly ModelDeclaration[], list?: string) {
  const catalog = createModelCatalog(declared, list);
  if (!catalog.ok) throw new Error(catalog.failure.join());
  const { offered, models } = catalog.value;
  return { offered: offered.map(({ id }) => id), models: [...models.values()] };
}

describe("the catalog", () => {
  test("offers what the code declares, in this order, with the settings of each provider", () => {
    const { offered, models } = catalogOf([A, { ...B, secret: "TEAM_API_KEY" }]);
    expect(offered).toEqual(["a", "b"]);
    expect(models.map(({ address, secret }) => [address, secret])).toEqual([
      ["OPENAI_BASE_URL", "OPENAI_API_KEY"],
      ["ANTHROPIC_BASE_URL", "TEAM_API_KEY"],
    ]);
  });

  test("offers what MODELS lists, and knows the fallbacks of these models besides", () => {
    const unused: ModelDeclaration = { id: "unused", wire: "openai" };
    const { offered, models } = catalogOf([{ ...A, fallback: ["b"] }, B, unused], "a,local");
    expect(offered).toEqual(["a", "local"]);
    expect(models.map(({ id }) => id)).toEqual(["a", "b", "local"]);
  });

  test("lets the fallbacks of a fallback follow it, each once", () => {
    const declared: readonly ModelDeclaration[] = [
      { ...A, fallback: ["b", "d"] },
      { ...B, fallback: ["c"] },
      { id: "c", wire: "openai", fallback: ["d"] },
      { id: "d", wire: "openai" },
    ];
    expect(catalogOf(declared).models[0]?.fallback).toEqual(["b", "c", "d"]);
  });
});

describe("what a model can take", () => {
  const canOf = (name: string, wire: ModelDeclaration["wire"] = "openai") =>
    catalogOf([{ id: name, wire }]).models[0]?.can;

  test.each([
    ["gpt-6.1-terra", { images: true, temperature: false, efforts: ["low", "medium", "high"] }],
    ["gpt-5.2-pro", { efforts: ["none", "low", "medium", "high", "xhigh"] }],
    ["gpt-4o-mini", { temperature: true, efforts: [], maxImageTokens: 48_169 }],
    ["openai/gpt-5-mini", { images: true, strictTools: true }],
    ["claude-sonnet-5", { images: true, temperature: false, forcedTools: true }],
    ["claude-opus-5-5", { forcedTools: false, maxImageTokens: 4_784 }],
    ["claude-haiku-4-5-20251001", { temperature: true, efforts: [] }],
    ["claude-sonnet-4-20250514", { temperature: true, efforts: [] }],
  ])("is known for the family of %s", (name, can) => {
    expect(canOf(name)).toMatchObject(can);
  });

  test("is the least for an unknown name", () => {
    expect(canOf("my-local-model")).toEqual({
      tools: true,
      images: false,
      files: false,
      efforts: [],
      temperature: false,
      forcedTools: false,
      strictTools: false,
      maxTokensField: "max_completion_tokens",
    });
  });

  test("is what the declaration says where it says anything", () => {
    const declared = { ...A, can: { temperature: true } };
    expect(catalogOf([declared]).models[0]?.can).toMatchObject({ temperature: true, images: true });
  });
});

describe("is refused with its reason:", () => {
  test.each([
    ["an unknown wire", [{ ...A, wire: "grpc" }], /"a" is not valid at wire/],
    ["an unknown field", [{ ...A, price: 1 }], /"a" is not valid at price/],
    ["an unknown ability", [{ ...A, can: { sing: true } }], /at can.sing/],
    ["an id that a list cannot hold", [{ ...A, id: "a,b" }], /at id: 1 to 128 characters/],
    ["an id that reads like a tenant's model", [{ ...A, id: "providers/a/m" }], /providers\//],
    ["a secret of something else", [{ ...A, secret: "RUN_ID_SECRET" }], /ending in _API_KEY/],
    ["an address of something else", [{ ...A, address: "AUTH" }], /ending in _BASE_URL/],
    ["a negative price", [{ ...A, prices: { ...USD, input: -1 } }], /at prices.input/],
    ["a price that is no number", [{ ...A, prices: { ...USD, output: NaN } }], /prices.output/],
    ["a currency in words", [{ ...A, prices: { ...USD, currency: "dollars" } }], /ISO 4217/],
    ["an unknown effort", [{ ...A, effort: "huge" }], /effort huge.*low, medium, high/],
    ["an effort where none is known", [{ id: "x", wire: "openai", effort: "low" }], /are: none/],
    [
      "no price of cache writes",
      [{ ...B, prices: { currency: "USD", input: 1, output: 1 } }],
      /cacheWrite/,
    ],
    ["summaries on a wire without them", [{ id: "x", wire: "openai", summaries: true }], /openai/],
    ["an unknown fallback", [{ ...A, fallback: ["b"] }], /fallback b, which nothing declares/],
    ["itself as fallback", [{ ...A, fallback: ["a"] }], /its own fallbacks/],
    [
      "a circle",
      [
        { ...A, fallback: ["b"] },
        { ...B, fallback: ["a"] },
      ],
      /its own fallbacks/,
    ],
    ["an id twice", [A, { ...B, id: "a" }], /twice/],
    [
      "a fallback in another currency",
      [
        { ...A, prices: USD, fallback: ["b"] },
        { ...B, prices: { ...USD, currency: "EUR" } },
      ],
      /USD, its fallback b in another currency/,
    ],
    ["a fallback without prices", [{ ...A, prices: USD, fallback: ["b"] }, B], /b has no prices/],
    [
      "a price for the fallback alone",
      [
        { ...A, fallback: ["b"] },
        { ...B, prices: USD },
      ],
      /no prices/,
    ],
  ])("%s", (_name, declared, reason) => {
    expect(problemsOf(declared).join("; ")).toMatch(reason);
  });

  test("a list that repeats a model, or declares a declared id again", () => {
    expect(problemsOf([A], "a,a").join()).toMatch(/twice/);
    expect(problemsOf([A], "responses:a").join()).toMatch(/twice/);
    expect(problemsOf([], "x,responses:x").join()).toMatch(/twice/);
  });

  test("no model at all, and a list that cannot be read", () => {
    expect(problemsOf([]).join()).toMatch(/^MODELS is missing/);
    expect(problemsOf([A], " , ").join()).toMatch(/^MODELS is not valid. Set it to /);
  });
});
