import { IMPLIED_LIMITS } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** How long a run whose time is up may take to end, even after a crash. */
const MAX_ENDING_MS = 2 * 60_000;

/** Tells how long a run may take. Unit: milliseconds. */
export function maxWallClockMs({ budgets }: Pick<ToolPolicy, "budgets">): number {
  return budgets.maxWallClockMs ?? IMPLIED_LIMITS.maxWallClockMs;
}

/**
 * Tells when a call that begins now has ended at the latest, crashes included. Unit: milliseconds.
 */
export function latestEndMs(policy: Pick<ToolPolicy, "budgets">): number {
  return maxWallClockMs(policy) + MAX_ENDING_MS;
}
