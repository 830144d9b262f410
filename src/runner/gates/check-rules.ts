import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import type { Result } from "../../protocol/result.ts";

/** Gate 5: asks the contract's semantic rules about arguments that fit its schema. Fails: SEMANTIC_INVALIDITY. */
export function checkRules(tool: BoundToolRuntime, args: JsonObject): Result<null, ToolFailure> {
  return tool.checkRules(args);
}
