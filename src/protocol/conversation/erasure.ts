import type { RunId } from "../identity/ids.ts";

/** What somebody still works on, so that a conversation cannot be deleted yet. */
export type BusyReason =
  | "unfinished"
  | "unknown_outcome"
  | "undo"
  | "verification"
  /** Its object did not answer, so nobody can tell. */
  | "unreachable";

/** A run that keeps its conversation from being deleted. */
export interface BusyRun {
  readonly runId: RunId;
  readonly why: readonly BusyReason[];
}
