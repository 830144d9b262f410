import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../protocol/json/value.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import {
  nonBlank,
  objectOf,
  readCount,
  readError,
  readUnknownFinish,
  textOf,
  toUsage,
} from "../model/event-decoder.ts";

const REASONS: ReadonlyMap<JsonValue | undefined, ModelFinish> = new Map<
  JsonValue | undefined,
  ModelFinish
>([
  ["max_output_tokens", "length"],
  ["max_tool_calls", "length"],
  ["content_filter", "content_filter"],
  ["model_context_window_exceeded", "context_window"],
  ["context_length_exceeded", "context_window"],
]);

/** Reads how a response ended: by its status, where it has one, else by the event's type. */
export function readFinish(response: JsonObject, type: string): ModelFinish {
  const status = nonBlank(response["status"]) ?? type.replace("response.", "");
  if (readError(response) !== undefined && status !== "completed") return "error";
  switch (type === "response.failed" ? "failed" : status) {
    case "completed":
      return "stop";
    case "incomplete": {
      const reason = objectOf(response["incomplete_details"])?.["reason"];
      return REASONS.get(reason) ?? readUnknownFinish(textOf(reason), "length");
    }
    default:
      return "error";
  }
}

/** Reads what a response used; other values count as not reported. */
export function readUsage(value: JsonValue | undefined) {
  const usage = objectOf(value);
  const input = objectOf(usage?.["input_tokens_details"]);
  const output = objectOf(usage?.["output_tokens_details"]);
  return toUsage({
    input: readCount(usage?.["input_tokens"]),
    output: readCount(usage?.["output_tokens"]),
    cached: readCount(input?.["cached_tokens"]),
    cacheWrite: readCount(input?.["cache_write_tokens"]),
    reasoning: readCount(output?.["reasoning_tokens"]),
  });
}

/** Reads the objects of a list; anything else is an empty list. */
export function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
