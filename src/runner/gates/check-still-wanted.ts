import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { CANCELLED, failCall } from "../tool-failure.ts";

/**
 * Asks whether the call is still wanted: much may have happened while it waited for its turn, for a
 * gate or for its next attempt. What the user says stops no call that has begun.
 * Fails: UNKNOWN_ERROR when the run is cancelled, BUDGET_EXHAUSTED, STALE_STATE.
 */
export function checkStillWanted(
  { history, ports, signal, tool }: ActiveCall,
  hasBegun: boolean,
): Result<null, ToolFailure> {
  if (signal.aborted) return CANCELLED;
  if (history.isWithdrawn(tool.id)) {
    return failCall("BUDGET_EXHAUSTED", {
      code: "tool_withdrawn",
      message: "this tool is not available any more in this run; go on without it",
    });
  }
  if (hasBegun || !ports.inbox.hasSteering) return ok(null);
  return failCall("STALE_STATE", {
    code: "skipped",
    message:
      "the user spoke before this call began, so it was not made; ask again if it still fits",
  });
}
