import type { Mutant } from "./mutant.ts";

/** What keeps models to what they may take, cost and replace. */
export const MODELS: readonly Mutant[] = [
  {
    name: "any secret may be a provider's key",
    file: "src/protocol/model/check-declaration.ts",
    from: 'secret: v.optional(settingName("_API_KEY")),',
    to: "secret: v.optional(word),",
    test: {
      file: "test/env.test.ts",
      name: "cannot make a secret of another purpose a provider's key",
    },
  },
  {
    name: "a setting goes to a model that cannot take it",
    file: "src/adapters/fit-request.ts",
    from: "...(temperature !== undefined && can.temperature && { temperature }),",
    to: "...(temperature !== undefined && { temperature }),",
    test: {
      file: "test/adapters/fit-request.test.ts",
      name: "stays away from a model that cannot take it",
    },
  },
  {
    name: "the price of a model is not held",
    file: "src/loop/model-budget.ts",
    from: "const cost = this.#cost.bound(input, output);",
    to: "const cost = this.#cost.bound(0, 0);",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports no usage",
    },
  },
  {
    name: "the price of the fallbacks is not held",
    file: "src/loop/model-cost.ts",
    from: "const prices = [model, ...others].flatMap(",
    to: "const prices = [model].flatMap(",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "holds what the dearest model of its fallback list would cost",
    },
  },
  {
    name: "a report below what the bytes show is believed",
    file: "src/loop/shown-tokens.ts",
    from: "return usage.outputTokens >= toTokens((text?.length ?? 0) + calls);",
    to: "return calls >= 0 && text !== null;",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports fewer output tokens than its text has",
    },
  },
  {
    name: "a request that is reported too small is believed",
    file: "src/loop/shown-tokens.ts",
    from: "usage.inputTokens < Math.max(1, inputTokens)",
    to: "usage.inputTokens < Math.min(1, inputTokens)",
    test: {
      file: "test/http/model-prices.test.ts",
      name: "costs the bound when the provider reports fewer input tokens than the request has",
    },
  },
  {
    name: "prices in another currency count as the budget's",
    file: "src/loop/model-cost.ts",
    from: "return prices && prices.currency !== currency",
    to: 'return prices && currency === ""',
    test: {
      file: "test/http/model-prices.test.ts",
      name: "is refused when its prices are in another currency than the budgets",
    },
  },
];
