import type { Clock } from "../capabilities/system.ts";

/**
 * Waits for a delay, or until the signal aborts. Contract: leaves no timer and no listener behind.
 */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.schedule(delayMs, resolve);
  const stop = (): void => {
    cancel();
    resolve();
  };
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", stop));
}
