import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";

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
