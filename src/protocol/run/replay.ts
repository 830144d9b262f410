import type { DryRunOfRun } from "../policy/dry-run.ts";

/** Why a run cannot be replayed. */
export type NotReplayableReason =
  /** The run or one of its calls has not ended. */
  | "unfinished"
  /** The run failed inside Interlock before it went on after a step. */
  | "broken"
  /** Likewise an interruption cut off a step, and no record holds what ended the run afterwards. */
  | "interrupted"
  /** The earlier turns that the model was shown are gone, or are others by now. */
  | "history_erased"
  | "history_changed"
  /** A policy newer than the pinned one refused a call. */
  | "policy_changed"
  /** A policy of the run could not be read, or cannot now: the pinned one, or one of a vote. */
  | "policy_unavailable"
  /**
   * No record holds what the replay needs: a check or a preview of a contract, an attempt before a
   * veto, the moment at which a call made room for another, or that a message arrived as a call
   * began.
   */
  | "unclear";

/** Where a replay first decides otherwise than the run did. */
export interface ReplayDifference {
  /** JSON Pointer into the decisions of the run. */
  readonly pointer: string;
  /** Absent: the difference is in how the run began or ended. */
  readonly step?: number;
  readonly toolCallId?: string;
  /**
   * What the run decided, and what the replay decided. Absent: there was no such decision, or its
   * value is no code, number or flag of Interlock's own.
   */
  readonly recorded?: string | number | boolean | null;
  readonly replayed?: string | number | boolean | null;
}

/** Result of a replay: `sha256:…` over the recorded decisions, and over the replayed ones. */
export interface ReplayResult {
  readonly recorded: string;
  readonly replayed: string;
  /**
   * The run is decided again only up to this step: after it a fault of Interlock ended the run, or
   * an interruption of which no record holds what it ended. Absent: the whole run.
   */
  readonly until?: { readonly step: number; readonly because: "broken" | "interrupted" };
  /** Present exactly when the hashes differ. */
  readonly difference?: ReplayDifference;
}

/** What deciding a run again, or its calls under another policy, came to. */
export type ReplayOutcome =
  | { readonly kind: "replayed"; readonly result: ReplayResult }
  | { readonly kind: "dry_run"; readonly result: DryRunOfRun }
  | { readonly kind: "not_replayable"; readonly reason: NotReplayableReason };
