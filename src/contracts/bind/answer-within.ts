import type { Clock } from "../../capabilities/system.ts";

/** How waiting for an answer ended. */
export type Waited<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "timed_out" }
  | { readonly kind: "cancelled" };

/** Unit: milliseconds. */
export interface Patience {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the waiting at once. */
  readonly signal?: AbortSignal;
}

/**
 * Calls code that may never answer, and waits for the given time.
 * Contract: a throw of `ask` goes through. Code that does not answer in time is abandoned without a
 * timer or a listener; its late answer is dropped.
 */
export async function answerWithin<T>(
  { clock, timeoutMs, signal }: Patience,
  ask: () => Promise<T>,
): Promise<Waited<T>> {
  if (signal?.aborted) return { kind: "cancelled" };
  const { promise: ended, resolve: end } = Promise.withResolvers<Waited<T>>();
  const cancel = (): void => end({ kind: "cancelled" });
  signal?.addEventListener("abort", cancel, { once: true });
  const stopTimer = clock.schedule(timeoutMs, () => end({ kind: "timed_out" }));
  try {
    const answered = ask().then((value): Waited<T> => ({ kind: "answered", value }));
    return await Promise.race([ended, answered]);
  } finally {
    stopTimer();
    signal?.removeEventListener("abort", cancel);
  }
}
