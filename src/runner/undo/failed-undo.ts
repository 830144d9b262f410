import { fail } from "../../protocol/outcome/result.ts";
import type { Conclusion, EndingCall } from "../outcome/conclusion.ts";

/**
 * Gives a failed undo its class: a call that undoes another one, began, and did not complete is
 * COMPENSATION_FAILED, and is never repeated (seeds/004, "Compensation Failure"). STALE_STATE
 * stays: the tool found that what it should undo has changed, and did nothing. Contract: pure.
 */
export function markFailedUndo(
  { toolCall }: Pick<EndingCall, "toolCall">,
  conclusion: Conclusion,
): Conclusion {
  const { outcome, dispatchState, invocationState } = conclusion;
  if (toolCall.origin !== "undo" || outcome.ok || !dispatchState.dispatched) return conclusion;
  if (invocationState === "COMPLETED") return conclusion;
  if (outcome.failure.taxonomyClass === "STALE_STATE") return conclusion;
  return {
    ...conclusion,
    outcome: fail({ ...outcome.failure, taxonomyClass: "COMPENSATION_FAILED" }),
    invocationState: invocationState === "EXPIRED" ? "EXPIRED" : "FAILED_FINAL",
  };
}
