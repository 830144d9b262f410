import type { Clock } from "../capabilities/clock.ts";

/** A run's time. */
export interface TimeLimit {
  /** Aborts when the run is cancelled, or when its time is up. */
  readonly signal: AbortSignal;
  readonly isUp: boolean;
  /** Contract: has to be called, or a timer stays behind. */
  stop(): void;
}

/** Starts a run's time. Unit: milliseconds. */
export function startTimeLimit(clock: Clock, cancelled: AbortSignal, maxMs: number): TimeLimit {
  const abort = new AbortController();
  let isUp = false;
  const cancel = (): void => abort.abort();
  if (cancelled.aborted) cancel();
  cancelled.addEventListener("abort", cancel, { once: true });
  const stopTimer = clock.schedule(maxMs, () => {
    isUp = true;
    cancel();
  });
  return {
    signal: abort.signal,
    get isUp() {
      return isUp;
    },
    stop() {
      stopTimer();
      cancelled.removeEventListener("abort", cancel);
    },
  };
}
