import { failCall } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import {
  findProtoKey,
  hasFiniteNumbers,
  isWellFormed,
  MAX_JSON_DEPTH,
  nestsTooDeep,
} from "../../protocol/json/guard.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { parseArguments as parseText } from "../../protocol/tool/call.ts";
import type { Gate } from "./gate.ts";
import type { ArgumentsSubject } from "./subjects.ts";

/**
 * The gate `parse`: parses the model's argument text into one JSON object within the contract's
 * limits.
 * Fails: SYNTACTIC_PARSE_FAIL; OUT_OF_BOUNDS for size, depth and numbers; STRUCTURAL_VIOLATION for
 * `__proto__`.
 */
export const parseArguments: Gate<ArgumentsSubject> = { name: "parse", check: parse };

function parse({
  tool,
  call,
}: ArgumentsSubject): Result<Pick<ArgumentsSubject, "args">, ToolFailure> {
  if (utf8Bytes(call.argumentsText) > tool.maxArgumentsBytes) return refuseTooLarge(tool);
  if (nestsTooDeep(call.argumentsText)) {
    const message = `the arguments nest deeper than ${MAX_JSON_DEPTH} levels`;
    return failCall("arguments_too_deep", message);
  }
  const parsed = parseText(call);
  if (!parsed.ok) return failCall(parsed.failure.code);
  if (!isWellFormed(parsed.value)) return failCall("not_unicode");
  if (!hasFiniteNumbers(parsed.value)) return failCall("number_too_large");
  if (findProtoKey(parsed.value) !== undefined) return failCall("forbidden_key");
  return ok({ args: parsed.value });
}

/** Refuses arguments that are larger than the contract allows. */
export function refuseTooLarge({
  maxArgumentsBytes,
}: Pick<BoundToolRuntime, "maxArgumentsBytes">): Result<never, ToolFailure> {
  const message = `the arguments exceed ${maxArgumentsBytes} bytes`;
  return failCall("arguments_too_large", message);
}
