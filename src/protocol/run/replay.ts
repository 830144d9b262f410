/** Why a run cannot be replayed. */
export type NotReplayableReason =
  /** The run or one of its calls has not ended. */
  | "unfinished"
  /** A cancellation or a time limit stopped the run, at a moment that no record holds. */
  | "stopped"
  /** The run failed inside Interlock. */
  | "broken"
  /** An interruption cut off a step, and the step was refused afterwards. */
  | "interrupted"
  /** An operator was asked to resolve an unknown outcome. */
  | "operator"
  /**
   * People did more than vote once on a request: an edit, an answer, a raise, a consent that lasts,
   * a request that another one replaced, an approval of a saga or under another policy.
   */
  | "people"
  /** The earlier turns that the model was shown are gone, or are others by now. */
  | "history_erased"
  | "history_changed"
  /** A hook of the deployment refused a call. Its reason is not recorded. */
  | "vetoed"
  /** A policy newer than the pinned one refused a call. */
  | "policy_changed"
  /** The pinned policy cannot be read now. */
  | "policy_unavailable"
  /** The deployment's hook failed. No record holds its answer. */
  | "context"
  /** A check or preview of a contract is not recorded, or a message arrived while a call began. */
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
  /** Present exactly when the hashes differ. */
  readonly difference?: ReplayDifference;
}
