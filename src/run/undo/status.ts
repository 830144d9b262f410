import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { UndoReport } from "../../protocol/invocation/undo.ts";

/** Reads how a run that undoes a call ended, from the record of its only call. Contract: pure. */
export function statusOfUndo(
  record: Pick<ToolInvocationRecord, "state" | "end"> | undefined,
): UndoReport["status"] {
  if (record?.state === "COMPLETED") return "undone";
  const taxonomyClass = record?.end?.observation.status.taxonomy_class;
  if (taxonomyClass === "COMPENSATION_FAILED") return "failed";
  return taxonomyClass === "STALE_STATE" ? "stale" : "released";
}
