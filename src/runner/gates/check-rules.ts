import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";

/** Gate 5: asks the contract's semantic rules about arguments that fit its schema. Fails: SEMANTIC_INVALIDITY. */
export function checkRules(tool: BoundToolRuntime, args: JsonObject): Result<null, ToolFailure> {
  return tool.checkRules(args);
}
