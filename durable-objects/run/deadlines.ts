import { AlarmDeadlines } from "../deadlines.ts";

/** What a run's object does at a time of its own. */
export type DeadlineName =
  /** Looks whether the loop of an unfinished run still goes. */
  | "watchdog"
  /** Ends the run's time. */
  | "wall_clock"
  /** Ends the waiting for an operator. */
  | "outcome"
  /** Ends the waiting for people's approval. */
  | "approval"
  /** Tries again to publish what is not published yet. */
  | "outbox"
  /** Shrinks a finished run to what its key needs. */
  | "retention"
  /** Forgets the run. */
  | "forget";

/** The deadlines of one run. */
export class Deadlines extends AlarmDeadlines<DeadlineName> {}
