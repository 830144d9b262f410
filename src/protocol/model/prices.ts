import type { ModelPrices } from "./declaration.ts";
import type { Usage } from "./usage.ts";

/**
 * The most that a token can cost. Units: millionths of the currency. The price of a million tokens
 * is the same number.
 */
export interface TokenRates {
  readonly input: number;
  readonly output: number;
}

/** Finds the highest rates of several models. Contract: pure. */
export function dearestRates(prices: readonly ModelPrices[]): TokenRates {
  const inputs = prices.flatMap(({ input, cachedInput = 0, cacheWrite = 0 }) => [
    input,
    cachedInput,
    cacheWrite,
  ]);
  return {
    input: Math.max(0, ...inputs),
    output: Math.max(0, ...prices.map(({ output }) => output)),
  };
}

/** Computes the most that a call can cost. Unit: whole millionths of the currency. */
export function costBound(rates: TokenRates, inputTokens: number, outputTokens: number): number {
  return Math.ceil(inputTokens * rates.input + outputTokens * rates.output);
}

/** Computes what a provider's bill costs. Unit: whole millionths of the currency, rounded up. */
export function costOf(prices: ModelPrices, usage: Usage): number {
  const { input, cachedInput = input, cacheWrite = input, output } = prices;
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  // A report may count cached input apart. Then none of the input is left for the full price.
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  return Math.ceil(
    plain * input +
      cachedInputTokens * cachedInput +
      cacheWriteTokens * cacheWrite +
      outputTokens * output,
  );
}
