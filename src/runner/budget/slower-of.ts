import type { RateLimit } from "../../capabilities/budget.ts";

/** Finds the rate limit that allows fewer calls a second. Contract: pure. */
export function slowerOf(
  a: RateLimit | undefined,
  b: RateLimit | undefined,
): RateLimit | undefined {
  if (!a || !b) return a ?? b;
  return a.maxRequests * b.windowSeconds < b.maxRequests * a.windowSeconds ? a : b;
}
