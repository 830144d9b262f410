import type { ActorId, RunId } from "../identity/ids.ts";

/**
 * Owner of every run id of an undo, because owner and operators share the run. No actor has this
 * id, so no request derives such a run.
 */
export const UNDO_OWNER = "undo" as ActorId;

/** How an attempt to undo a call stands. */
export type UndoStatus =
  /** Its run has not reported yet. */
  | "running"
  /** The call is undone. */
  | "undone"
  /** Nothing was undone, and a person may try again. */
  | "released"
  /** Nothing was undone, and never will be: what the call changed has changed since. */
  | "stale"
  /** It failed after it began: an operator has to look, and then to report. */
  | "failed";

/** The newest attempt to undo a completed call. */
export interface UndoAttempt {
  /** From 1. A released attempt is followed by another. */
  readonly attempt: number;
  /** The run of one call that undoes the call. */
  readonly runId: RunId;
  readonly status: UndoStatus;
  /** Until when an operator may report what a failed undo did. Unit: Unix milliseconds. */
  readonly untilMs?: number;
}

/** How the run of an attempt ended. */
export interface UndoReport {
  /** Number of the invocation that it undoes. */
  readonly invocation: number;
  /** The run of the attempt. */
  readonly runId: RunId;
  readonly status: Exclude<UndoStatus, "running">;
}

/** What a viewer sees of undoing a call. */
export interface UndoState {
  /** `available`: the viewer may undo it now. */
  readonly status: Exclude<UndoStatus, "released"> | "available";
  /** The tool that undoes it. */
  readonly toolId: string;
  /** The run of the newest attempt. */
  readonly runId?: RunId;
}

/** Tells which attempt follows when somebody asks for one now. Contract: pure. */
export function attemptOf(undo: UndoAttempt | undefined): number {
  if (!undo) return 1;
  return undo.status === "released" ? undo.attempt + 1 : undo.attempt;
}
