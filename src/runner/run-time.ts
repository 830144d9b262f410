import type { ToolPolicy } from "../protocol/tool-policy.ts";

/** Time of a run whose policy sets no limit: as long as the platform keeps it awake without a reader. */
const DEFAULT_MAX_WALL_CLOCK_MS = 15 * 60_000;
/** How long a run that is out of time may take to end, after a crash too. */
const MAX_ENDING_MS = 2 * 60_000;

/** Tells how long a run may take. Unit: milliseconds. */
export function maxWallClockMs({ budgets }: Pick<ToolPolicy, "budgets">): number {
  return budgets.maxWallClockMs ?? DEFAULT_MAX_WALL_CLOCK_MS;
}

/** Tells after what time a call that begins now has ended, whatever happens. Unit: milliseconds. */
export function surelyOverMs(policy: Pick<ToolPolicy, "budgets">): number {
  return maxWallClockMs(policy) + MAX_ENDING_MS;
}
