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
import { parseArguments as parseText, type ArgumentsFailure } from "../../protocol/tool/call.ts";
import { failCall } from "../tool-failure.ts";
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
    return failCall("OUT_OF_BOUNDS", { code: "arguments_too_deep", message });
  }
  const parsed = parseText(call);
  if (!parsed.ok) return failCall("SYNTACTIC_PARSE_FAIL", describe(parsed.failure));
  if (!isWellFormed(parsed.value)) {
    const message = "the arguments hold half a character";
    return failCall("SYNTACTIC_PARSE_FAIL", { code: "not_unicode", message });
  }
  if (!hasFiniteNumbers(parsed.value)) {
    const message = "the arguments hold a number that is too large";
    return failCall("OUT_OF_BOUNDS", { code: "number_too_large", message });
  }
  if (findProtoKey(parsed.value) !== undefined) {
    return failCall("STRUCTURAL_VIOLATION", {
      code: "forbidden_key",
      message: "no field may be named __proto__",
    });
  }
  return ok({ args: parsed.value });
}

/** Refuses arguments that are larger than the contract allows. */
export function refuseTooLarge({
  maxArgumentsBytes,
}: Pick<BoundToolRuntime, "maxArgumentsBytes">): Result<never, ToolFailure> {
  const message = `the arguments exceed ${maxArgumentsBytes} bytes`;
  return failCall("OUT_OF_BOUNDS", { code: "arguments_too_large", message });
}

function describe({ code }: ArgumentsFailure): { readonly code: string; readonly message: string } {
  switch (code) {
    case "truncated":
      return { code, message: "the arguments were cut off before they were complete" };
    case "not_json":
      return { code, message: "the arguments are not valid JSON" };
    case "not_an_object":
      return { code, message: "the arguments must be one JSON object" };
  }
}
