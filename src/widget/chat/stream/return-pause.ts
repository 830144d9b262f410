import type { Wait } from "../../../client/backoff.ts";

export interface PausePorts {
  readonly wait: Wait;
  /** Resolves once the reader sees the page, or when the signal aborts. */
  readonly untilSeen: (signal: AbortSignal) => Promise<void>;
}

/**
 * Waits between two visits to a run that waits for people. A page that nobody sees does not return.
 * `end` ends all pauses, because the reader did something that lets a run continue.
 */
export function createReturnPause({ wait, untilSeen }: PausePorts) {
  let current = new AbortController();
  return {
    async pause(ms: number, lifetime: AbortSignal): Promise<void> {
      const signal = AbortSignal.any([lifetime, current.signal]);
      await wait(ms, signal);
      await untilSeen(signal);
    },
    end(): void {
      current.abort();
      current = new AbortController();
    },
  };
}
