import type { ModelDeclaration } from "../../src/protocol/model/declaration.ts";

/** A token of input costs 2 millionths, of output 10. Cached input costs a tenth. */
export const PRICES = {
  currency: "USD",
  input: 2,
  cachedInput: 0.2,
  cacheWrite: 2.5,
  output: 10,
} as const;

/** Models that the laboratory declares in code. The provider knows them by other names. */
export const LAB_MODELS: readonly ModelDeclaration[] = [
  { id: "priced", wire: "openai", name: "priced-o", prices: PRICES },
  { id: "euro", wire: "openai", prices: { ...PRICES, currency: "EUR" } },
  { id: "cheap", wire: "openai", prices: { ...PRICES, input: 1, output: 1 }, fallback: ["dear"] },
  { id: "dear", wire: "openai", prices: { ...PRICES, input: 200, output: 1_000 } },
  { id: "brittle", wire: "responses", fallback: ["spare"] },
  { id: "spare", wire: "anthropic", name: "spare-a", fallback: ["toolless", "last"] },
  { id: "toolless", wire: "openai", can: { tools: false } },
  { id: "last", wire: "openai" },
];
