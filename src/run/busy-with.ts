import type { BusyReason } from "../protocol/conversation/erasure.ts";
import type { Run } from "./run.ts";

/** Tells what of a run people or the run itself still work on, so that nobody may delete it. */
export function busyWith({
  invocations,
  journal,
}: Pick<Run, "invocations" | "journal">): readonly BusyReason[] {
  const calls = invocations.all();
  const undone = new Set(calls.map(({ undo }) => undo?.status));
  const isVerified = calls.some(({ end, verification }) =>
    end?.verification ? verification?.outcome === undefined : false,
  );
  const reasons: Readonly<Record<Exclude<BusyReason, "unreachable">, boolean>> = {
    unfinished: !journal.hasEnded,
    unknown_outcome: invocations.awaitingOperator().length > 0,
    undo: undone.has("running") || undone.has("failed"),
    verification: isVerified || invocations.untoldMismatches().length > 0,
  };
  return (Object.keys(reasons) as (keyof typeof reasons)[]).filter((reason) => reasons[reason]);
}
