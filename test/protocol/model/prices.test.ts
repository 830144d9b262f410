import { expect, test } from "vitest";
import { costBound, costOf, dearestRates } from "../../../src/protocol/model/prices.ts";

const PRICES = { currency: "USD", input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 };

test.each([
  ["plain tokens", { inputTokens: 100, outputTokens: 10 }, 300],
  ["cached input", { inputTokens: 100, outputTokens: 0, cachedInputTokens: 90 }, 38],
  ["cache writes", { inputTokens: 100, outputTokens: 0, cacheWriteTokens: 100 }, 250],
  ["a fraction, rounded up", { inputTokens: 1, outputTokens: 0, cachedInputTokens: 1 }, 1],
  ["cached input counted apart", { inputTokens: 1, outputTokens: 0, cachedInputTokens: 10 }, 2],
])("a bill of %s costs its prices", (_name, usage, cost) => {
  expect(costOf(PRICES, usage)).toBe(cost);
});

test("cached input and cache writes without a price cost what input costs", () => {
  const usage = { inputTokens: 100, outputTokens: 0, cachedInputTokens: 50, cacheWriteTokens: 50 };
  expect(costOf({ currency: "USD", input: 2, output: 10 }, usage)).toBe(200);
});

test("no bill within a bound costs more than the bound", () => {
  const rates = dearestRates([PRICES, { currency: "USD", input: 1, output: 40 }]);
  expect(rates).toEqual({ input: 2.5, output: 40 });
  const worst = { inputTokens: 100, outputTokens: 10, cacheWriteTokens: 100 };
  expect(costBound(rates, 100, 10)).toBeGreaterThanOrEqual(costOf(PRICES, worst));
});
