import type { Clock } from "../capabilities/system.ts";

/** The platform's clock and timers. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};
