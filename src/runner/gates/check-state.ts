import type { InvocationScope } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { askTool } from "../ask-tool.ts";

/**
 * Gate 8: asks the contract whether the target is still as the call assumes.
 * Contract: never throws. Fails: STALE_STATE, or what the check answers; TIMEOUT; UNKNOWN_ERROR.
 */
export async function checkState(
  hand: ActiveCall,
  args: JsonObject,
  scope: InvocationScope,
): Promise<Result<null, ToolFailure>> {
  const { tool, context } = hand;
  const answer = await askTool(hand, () => tool.checkState(args, context, scope));
  return answer.ok ? { ok: true, value: null } : answer;
}
