import type { Random } from "../../capabilities/system.ts";

/** One retry of a tool or of a model call. Units: milliseconds. */
export interface Retry {
  /** Delay before the first retry; it doubles with each attempt. */
  readonly firstMs: number;
  /** From 1. */
  readonly attempt: number;
  /** Delay that the failure asks for; it replaces the backoff. */
  readonly askedMs: number | undefined;
  /** Nothing that asks for a longer delay is retried. Default: 30 s. */
  readonly withinMs?: number;
}

/** Longest step of the backoff, and the default of `withinMs`. */
export const MAX_DELAY_MS = 30_000;

/**
 * Computes the delay before a retry: exponential backoff with jitter (seeds/004, "Retries versus
 * Repair Loops").
 * Contract: whole milliseconds; undefined when the delay would be longer than `withinMs`.
 */
export function backoffMs(
  { firstMs, attempt, askedMs, withinMs = MAX_DELAY_MS }: Retry,
  random: Random,
): number | undefined {
  const stepMs = Math.min(firstMs * 2 ** (attempt - 1), MAX_DELAY_MS);
  const delayMs = (askedMs ?? stepMs) + random.fraction() * stepMs;
  return delayMs > withinMs ? undefined : Math.ceil(delayMs);
}
