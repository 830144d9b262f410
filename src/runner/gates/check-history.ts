import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 10, the loop's own budget: stops a call that has brought the same result again and again.
 * Fails: BUDGET_EXHAUSTED.
 */
export function checkHistory(
  { tool, history }: ActiveCall,
  argumentsFingerprint: string,
): Result<null, ToolFailure> {
  return history.isLooping(tool.id, argumentsFingerprint)
    ? failCall("BUDGET_EXHAUSTED", {
        code: "doom_loop",
        message:
          "this call brought the same result three times; it is not made again, go on without",
      })
    : ok(null);
}
