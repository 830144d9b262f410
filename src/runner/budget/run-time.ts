import { IMPLIED_LIMITS } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** How long a run that is out of time may take to end, after a crash too. */
const MAX_ENDING_MS = 2 * 60_000;

/** Tells how long a run may take. Unit: milliseconds. */
export function maxWallClockMs({ budgets }: Pick<ToolPolicy, "budgets">): number {
  return budgets.maxWallClockMs ?? IMPLIED_LIMITS.maxWallClockMs;
}

/** Tells after what time a call that begins now has ended, whatever happens. Unit: milliseconds. */
export function surelyOverMs(policy: Pick<ToolPolicy, "budgets">): number {
  return maxWallClockMs(policy) + MAX_ENDING_MS;
}
