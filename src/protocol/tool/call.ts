import type { ToolCallId } from "../identity/ids.ts";
import { toCanonicalJson } from "../json/canonical-hash.ts";
import { hasFiniteNumbers, isWellFormed, nestsTooDeep } from "../json/guard.ts";
import { isJsonObject, type JsonObject } from "../json/value.ts";
import { fail, ok, type Result } from "../outcome/result.ts";

/** What a model asked for. It is untrusted and immutable, and keeps its id to the result. */
export interface ToolCall {
  readonly toolCallId: ToolCallId;
  /** The name as the model wrote it. It may name no tool at all. */
  readonly name: string;
  /** The assembled arguments, exactly as the model wrote them. */
  readonly argumentsText: string;
  /** True when the provider cut the call off. Such a call never runs. */
  readonly truncated: boolean;
  /** A person asks through the API, or undoes another call; no model does. */
  readonly origin?: CallOrigin;
  /** Present when a saga of this run asks. */
  readonly saga?: SagaLink;
}

export type CallOrigin = "direct" | "undo";

/** The place of a call in the saga that makes it. */
export type SagaLink = {
  /** Number of the saga's own invocation. */
  readonly number: number;
  /** From 1, in the order of the saga. */
  readonly step: number;
  /** The call undoes this step. */
  readonly compensates?: true;
};

/** Why the arguments cannot be parsed. */
export type ArgumentsFailure = {
  readonly code: "truncated" | "not_json" | "not_an_object";
};

/**
 * Parses a tool call's arguments into one JSON object. Blank arguments mean an empty object, unless
 * the provider cut the call off.
 * Contract: pure; never throws; the failure never repeats the arguments.
 */
export function parseArguments(
  call: Pick<ToolCall, "argumentsText" | "truncated">,
): Result<JsonObject, ArgumentsFailure> {
  if (call.truncated) return fail({ code: "truncated" });
  if (call.argumentsText.trim() === "") return ok({});
  let value: unknown;
  try {
    value = JSON.parse(call.argumentsText);
  } catch {
    return fail({ code: "not_json" });
  }
  return isJsonObject(value) ? ok(value) : fail({ code: "not_an_object" });
}

/**
 * Writes the arguments of a call so that equal arguments give equal texts: as canonical JSON. Text
 * that no gate accepts stays as it is.
 * Contract: pure; never throws.
 */
export function payloadOf(call: Pick<ToolCall, "argumentsText" | "truncated">): string {
  if (nestsTooDeep(call.argumentsText)) return call.argumentsText;
  const parsed = parseArguments(call);
  const isSound = parsed.ok && isWellFormed(parsed.value) && hasFiniteNumbers(parsed.value);
  return isSound ? toCanonicalJson(parsed.value) : call.argumentsText;
}
