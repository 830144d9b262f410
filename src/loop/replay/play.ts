import type { PlayedClock } from "./played-clock.ts";
import type { RunEvidence } from "./run-evidence.ts";
import type { NotReplayableReason } from "./why-not-replayable.ts";

/** What all played ports share. */
export interface Play {
  readonly evidence: RunEvidence;
  readonly clock: PlayedClock;
  /** Calls that have their result, in the replay. */
  readonly answered: ReadonlySet<string>;
  /** Notes that the evidence does not tell what is asked; the first reason stays. */
  readonly giveUp: (reason: NotReplayableReason) => void;
}
