export interface BackoffStep {
  readonly firstMs: number;
  /** Counts from 1. */
  readonly attempt: number;
  /** A number from 0 to 1. */
  readonly random: number;
}

/**
 * Returns the delay before a retry, in milliseconds. The delay doubles with each attempt. Jitter
 * takes up to a quarter off, so that clients do not all return at the same moment.
 */
export function backoffMs({ firstMs, attempt, random }: BackoffStep): number {
  return firstMs * 2 ** (attempt - 1) * (0.75 + random / 4);
}

/** Waits for a delay, or until the signal aborts. Unit: milliseconds. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after a time, or at once when aborted. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
    if (signal.aborted) finish();
  });
}
