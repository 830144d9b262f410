import type { RateLimiter } from "../../capabilities/budget.ts";

/** Limits with a rate limiting binding of the platform; without a binding nothing is limited. */
export function createRateLimiter(binding: RateLimit | undefined): RateLimiter {
  return {
    async admit(key) {
      if (!binding) return true;
      try {
        return (await binding.limit({ key })).success;
      } catch {
        // The limiter only protects against abuse, so its failure must not lock out callers.
        return true;
      }
    },
  };
}
