import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { UndoReport } from "../../protocol/invocation/undo.ts";

/** Whether a completed call is undone. `open`: nobody can tell yet. */
export type UndoStanding = "none" | "open" | "undone";

/**
 * Tells how undoing a completed call stands: a person undoes it, or the saga of which it is a step,
 * or its saga undoes it. Until that has ended, the state of its target says nothing about the call.
 * `calls` are all calls of its run. Contract: pure.
 */
export function undoStandingOf(
  { state, undo, saga: link }: ToolInvocationRecord,
  calls: readonly ToolInvocationRecord[],
): UndoStanding {
  const saga = link && calls.find(({ number }) => number === link.number);
  if (state !== "COMPLETED" || saga?.state === "COMPENSATED") return "undone";
  const isTried = [undo, saga?.undo].some(
    (attempt) => attempt?.status === "running" || attempt?.status === "failed",
  );
  if (isTried) return "open";
  const isUndoing = calls.some(
    (call) =>
      call.saga?.compensates === true &&
      call.saga.number === link?.number &&
      call.saga.step === link.step,
  );
  return isUndoing && !saga?.end ? "open" : "none";
}

/**
 * Tells whether a call is a step that only its saga undoes: the saga goes on, or has undone the
 * step. Threat: a person and the saga undo one step under two keys. `find` reads a record by its
 * number.
 */
export function isHeldBySaga(
  { saga, state, undo }: ToolInvocationRecord,
  find: (number: number) => ToolInvocationRecord | undefined,
): boolean {
  if (!saga) return false;
  const hasEnded = find(saga.number)?.end !== undefined;
  return !hasEnded || (state === "COMPENSATED" && !undo);
}

/** Reads how a run that undoes a call ended, from the record of its only call. Contract: pure. */
export function statusOfUndo(
  record: Pick<ToolInvocationRecord, "state" | "end"> | undefined,
): UndoReport["status"] {
  if (record?.state === "COMPLETED") return "undone";
  const taxonomyClass = record?.end?.observation.status.taxonomy_class;
  if (taxonomyClass === "COMPENSATION_FAILED") return "failed";
  return taxonomyClass === "STALE_STATE" ? "stale" : "released";
}
