import type { RunIncarnations } from "./stored-run.ts";

/** Recoveries without a finished step after which the run ends. */
const MAX_RECOVERIES = 5;
const BASE_BACKOFF_MS = 1_000;

/** Plan to start an unfinished run again. */
export interface Recovery {
  /** Stored before the loop starts. */
  readonly incarnations: RunIncarnations;
  /** The recovery before this one finished no step. */
  readonly isRepeated: boolean;
  /** Delay of the next recovery, if this one finishes no step either. */
  readonly backoffMs: number;
  /** A loop may start. False when even the last loop, which only had to end the run, failed. */
  readonly mayLaunch: boolean;
}

/**
 * Plans the next recovery of an unfinished run: the first one at once, the next ones with
 * exponential backoff, the last one only to end the run.
 * Contract: pure.
 */
export function planRecovery(
  incarnations: RunIncarnations,
  { lastStep, isStepOpen }: { readonly lastStep: number; readonly isStepOpen: boolean },
): Recovery {
  const recoveredStep = isStepOpen ? lastStep - 1 : lastStep;
  const recoveries = incarnations.recoveredStep === recoveredStep ? incarnations.recoveries + 1 : 1;
  const isHopeless = recoveries > MAX_RECOVERIES;
  const stop = incarnations.stop ?? (isHopeless ? "interrupted" : null);
  return {
    incarnations: { ...incarnations, recoveries, recoveredStep, stop },
    isRepeated: recoveries > 1,
    backoffMs: BASE_BACKOFF_MS * 2 ** (recoveries - 1),
    mayLaunch: recoveries <= MAX_RECOVERIES + 1,
  };
}
