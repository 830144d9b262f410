import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import type { ActiveCall } from "../active-call.ts";
import { failCall } from "../tool-failure.ts";
import { truncateResult, TRUNCATION_MARKER } from "../truncate-result.ts";

/** What leaves the runner of a tool's output. */
export interface NormalOutput {
  readonly data: JsonObject;
  /** What was done to it, for the model. */
  readonly warnings: readonly string[];
}

/**
 * Gate 13: validates what the tool returned, keeps its allowlisted fields, makes text that others wrote
 * harmless and shortens what is too long.
 * Contract: never throws; names no field of the output, which is the tool's bug and not the model's.
 * Fails: OBSERVATION_NORMALIZATION_FAIL.
 */
export function normaliseOutput(
  hand: ActiveCall,
  output: unknown,
): Result<NormalOutput, ToolFailure> {
  try {
    return normalise(hand, output);
  } catch {
    // A schema of the author broke, or the output is nested without end.
    return INVALID_OUTPUT;
  }
}

const INVALID_OUTPUT = failCall("OBSERVATION_NORMALIZATION_FAIL", {
  code: "invalid_output",
  message: "the tool ran, but its output does not fit its contract",
});

function normalise(
  { tool, ports }: ActiveCall,
  output: unknown,
): Result<NormalOutput, ToolFailure> {
  const valid = tool.validateOutput(output);
  if (!valid.ok) return INVALID_OUTPUT;
  const warnings: string[] = [];
  let data = tool.redactOutput(valid.value);
  if (tool.isOutputUntrusted) {
    const harmless = neutralise(data);
    if (harmless.changed) warnings.push("images, hidden characters or links were removed");
    data = isJsonObject(harmless.value) ? harmless.value : {};
  }
  const { maxResultBytes = tool.maxResultBytes } = ports.policy.budgets;
  const maxBytes = Math.min(tool.maxResultBytes, maxResultBytes);
  if (utf8Bytes(JSON.stringify(data)) <= maxBytes) return ok({ data, warnings });
  const shorter = truncateResult(data, maxBytes);
  if (!shorter) {
    const message = `the tool ran, but its output exceeds ${maxBytes} bytes`;
    return failCall("OBSERVATION_NORMALIZATION_FAIL", { code: "result_too_large", message });
  }
  warnings.push(
    `the result was cut to ${maxBytes} bytes: text ends with "${TRUNCATION_MARKER}", lists may be shorter`,
  );
  return ok({ data: shorter, warnings });
}
