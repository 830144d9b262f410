import type { LoggedProgress } from "../../src/loop/run-memory.ts";
import type { RunLives } from "./run-store.ts";

/** Recoveries without a finished step, after which the run ends. */
const MAX_RECOVERIES = 5;
const BASE_BACKOFF_MS = 1_000;

/** How an unfinished run is started again. */
export interface Recovery {
  /** What is to be stored of it before it starts. */
  readonly lives: RunLives;
  /** The last one did not bring the run further. */
  readonly isRepeated: boolean;
  /** How long to wait before the next one, if this one does not bring it further either. */
  readonly backoffMs: number;
  /** A loop may try; otherwise not even ending the run in order has succeeded. */
  readonly mayLaunch: boolean;
}

/**
 * Plans how the loop of an unfinished run is started again: the first time at once; when that did not bring it
 * further, after a while; and when that did not help, only to end it.
 * Contract: pure.
 */
export function planRecovery(
  lives: RunLives,
  { lastStep, isStepOpen }: Pick<LoggedProgress, "lastStep" | "isStepOpen">,
): Recovery {
  const recoveredStep = isStepOpen ? lastStep - 1 : lastStep;
  const recoveries = lives.recoveredStep === recoveredStep ? lives.recoveries + 1 : 1;
  const isHopeless = recoveries > MAX_RECOVERIES;
  const stop = lives.stop ?? (isHopeless ? "interrupted" : null);
  return {
    lives: { ...lives, recoveries, recoveredStep, stop },
    isRepeated: recoveries > 1,
    backoffMs: BASE_BACKOFF_MS * 2 ** (recoveries - 1),
    mayLaunch: recoveries <= MAX_RECOVERIES + 1,
  };
}
