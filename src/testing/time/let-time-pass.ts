import type { FakeClock } from "./fake-clock.ts";
import type { WorkMeter } from "../work-meter.ts";

/** Turns of the event loop without any news, after which a run waits only for its clock. */
const IDLE_TURNS = 20;
/**
 * Real time and turns without any news, after which code of an author waits for the clock too. A
 * machine that stands still for a while makes no turns.
 */
const BUSY_MS = 1_000;
const BUSY_TURNS = 200;

// Taken once, so that a test that replaces the timers of its platform does not stop a run.
const { setTimeout: nextTurn, Date: RealDate } = globalThis;

/**
 * Waits for a run. When nothing but its clock can bring it on, the clock jumps to its next timer:
 * the pause before a retry, or the end of a call's time.
 * Contract: a tool that works is given a second of real time without any news before that.
 */
export async function letTimePass<T>(
  pending: Promise<T>,
  { clock, meter }: { readonly clock: FakeClock; readonly meter: WorkMeter },
): Promise<T> {
  const settled = pending.then(
    () => true,
    () => true,
  );
  let changes = meter.changes;
  let [turns, sinceMs] = [0, RealDate.now()];
  while (!(await Promise.race([settled, turn()]))) {
    if (meter.changes !== changes) {
      changes = meter.changes;
      [turns, sinceMs] = [0, RealDate.now()];
      continue;
    }
    turns++;
    const hasWaited = turns >= BUSY_TURNS && RealDate.now() - sinceMs >= BUSY_MS;
    const isIdle = meter.isBusy ? hasWaited : turns >= IDLE_TURNS;
    const delayMs = clock.nextDelayMs;
    if (!isIdle || delayMs === undefined) continue;
    clock.advance(delayMs);
    [turns, sinceMs] = [0, RealDate.now()];
  }
  return pending;
}

function turn(): Promise<false> {
  return new Promise((resolve) => void nextTurn(() => resolve(false), 0));
}
