import type { RateLimiter } from "../capabilities/budget.ts";

/** Counts with a rate limiting binding of the platform; without one nothing is limited. */
export function createRateLimiter(binding: RateLimit | undefined): RateLimiter {
  return {
    async admit(key) {
      if (!binding) return true;
      try {
        return (await binding.limit({ key })).success;
      } catch {
        // It keeps abuse away, not strangers: when it fails, those who are known still get in.
        return true;
      }
    },
  };
}
