/** Upper bounds of the buckets of a duration. Unit: seconds. The last bucket has no bound. */
export const DURATION_BUCKETS = [
  0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
] as const;

/** Counter of the sum of all durations. Unit: milliseconds. */
export const DURATION_SUM = "ms";

/** Names the counter of the bucket in which a duration falls. */
export function bucketCounter(durationMs: number): string {
  const at = DURATION_BUCKETS.findIndex((bound) => durationMs <= bound * 1_000);
  return `b${at < 0 ? DURATION_BUCKETS.length : at}`;
}
