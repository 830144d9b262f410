import type { Clock } from "../capabilities/system.ts";

/** How waiting for somebody else's code ended. */
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
 * Asks code that may never answer, and waits for so long.
 * Contract: a throw of `ask` goes through; who does not answer is left behind, with no timer and no
 * listener, and what it answers later is dropped.
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
