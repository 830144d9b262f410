import type { BoundToolRuntime } from "../../capabilities/tool-source.ts";
import { utf8Bytes, type JsonObject } from "../../protocol/json.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Gate 13: validates what the tool returned and keeps its allowlisted fields.
 * Contract: never throws; names no field of the output, which is the tool's bug and not the model's.
 * Fails: OBSERVATION_NORMALIZATION_FAIL.
 */
export function normaliseOutput(
  tool: BoundToolRuntime,
  output: unknown,
  maxResultBytes: number,
): Result<JsonObject, ToolFailure> {
  const valid = tool.validateOutput(output);
  if (!valid.ok) {
    const message = "the tool ran, but its output does not fit its contract";
    return failCall("OBSERVATION_NORMALIZATION_FAIL", { code: "invalid_output", message });
  }
  const safe = tool.redactOutput(valid.value);
  if (utf8Bytes(JSON.stringify(safe)) > maxResultBytes) {
    const message = `the tool ran, but its output exceeds ${maxResultBytes} bytes`;
    return failCall("OBSERVATION_NORMALIZATION_FAIL", { code: "result_too_large", message });
  }
  return ok(safe);
}
