import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";

/**
 * Gate 4: holds the arguments against the contract's schema, in one pass: shape, then types, then
 * bounds. The tool owns its schema; the runner never touches one (seeds/000 #27).
 * Fails: STRUCTURAL_VIOLATION, TYPE_MISMATCH, OUT_OF_BOUNDS, the most basic fault first.
 */
export function checkArguments(
  tool: BoundToolRuntime,
  args: JsonObject,
): Result<JsonObject, ToolFailure> {
  return tool.validateInput(args);
}
