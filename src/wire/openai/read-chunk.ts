import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import type { Usage } from "../../protocol/model/usage.ts";

/** The part of one tool call in one chunk. Empty ids and names count as absent. */
export interface ToolCallFragment {
  readonly index: number | string | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** "" when the chunk has no arguments; undefined when they cannot be written as text. */
  readonly arguments: string | undefined;
}

/** The content of one chunk of a Chat Completions stream, in neutral terms. */
export interface ChunkFacts {
  /** The provider's text about a failure; only the audit may hold it. */
  readonly error: string | undefined;
  readonly text: string;
  readonly fragments: readonly ToolCallFragment[];
  readonly finish: ModelFinish | undefined;
  readonly usage: Usage | undefined;
}

/**
 * Reads an untrusted chunk or a whole `chat.completion`.
 * Contract: pure; never throws; reads choice 0 only; reads `message` only where `delta` is absent.
 */
export function readChunk(chunk: JsonObject): ChunkFacts {
  const choice = firstChoice(chunk["choices"]);
  const delta = objectOf(choice?.["delta"]) ?? objectOf(choice?.["message"]);
  const finish = readFinish(choice?.["finish_reason"]);
  return {
    error: readError(chunk) ?? (choice && readError(choice)) ?? brokenFinish(choice, finish),
    text: delta ? readText(delta) : "",
    fragments: delta ? readFragments(delta) : [],
    finish,
    usage: readUsage(chunk["usage"]) ?? readUsage(choice?.["usage"]),
  };
}

function firstChoice(choices: JsonValue | undefined): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    if (isJsonObject(choice) && (choice["index"] ?? 0) === 0) return choice;
  }
  return undefined;
}

function readError(holder: JsonObject): string | undefined {
  const error = holder["error"];
  if (error !== undefined && error !== null && error !== false && error !== "") {
    return quote(error);
  }
  return holder["object"] === "error" || holder["type"] === "error" ? quote(holder) : undefined;
}

function brokenFinish(
  choice: JsonObject | undefined,
  finish: ModelFinish | undefined,
): string | undefined {
  return finish === "error" ? `finish reason ${quote(choice?.["finish_reason"])}` : undefined;
}

/** Reads text and refusal alike: the model addresses both to the person. */
function readText(delta: JsonObject): string {
  const refusal = delta["refusal"];
  return contentText(delta["content"]) + (typeof refusal === "string" ? refusal : "");
}

function contentText(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content) {
    if (!isJsonObject(part) || part["type"] !== "text") continue;
    if (typeof part["text"] === "string") text += part["text"];
  }
  return text;
}

function readFragments(delta: JsonObject): readonly ToolCallFragment[] {
  const calls = delta["tool_calls"];
  if (Array.isArray(calls)) return calls.filter(isJsonObject).map(readFragment);
  const legacy = objectOf(delta["function_call"]);
  return legacy ? [readFragment({ function: legacy })] : [];
}

function readFragment(call: JsonObject): ToolCallFragment {
  const asked = objectOf(call["function"]);
  const index = call["index"];
  return {
    index: typeof index === "number" || typeof index === "string" ? index : undefined,
    id: nonBlank(call["id"]),
    name: nonBlank(asked?.["name"]),
    arguments: argumentText(asked?.["arguments"]),
  };
}

function argumentText(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return writeJson(value);
}

/** Far above what any model reads or writes in one call. */
const MAX_TOKENS_OF_CALL = 1_000_000_000;

/**
 * Reads token counts; absent unless both are whole numbers within 0 and the maximum.
 * Threat: a provider that reports one huge number and so uses up a tenant's budget.
 */
function readUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = objectOf(value);
  const inputTokens = usage?.["prompt_tokens"];
  const outputTokens = usage?.["completion_tokens"];
  if (!isTokenCount(inputTokens) || !isTokenCount(outputTokens)) return undefined;
  return { inputTokens, outputTokens };
}

function isTokenCount(value: JsonValue | undefined): value is number {
  return (
    typeof value === "number" &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    value <= MAX_TOKENS_OF_CALL
  );
}

const FINISHES: ReadonlyMap<string, ModelFinish> = new Map([
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["sensitive", "content_filter"],
  ["recitation", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["blocklist", "content_filter"],
  ["error", "error"],
  ["abort", "error"],
  ["aborted", "error"],
  ["cancelled", "error"],
  ["network_error", "error"],
  ["insufficient_system_resource", "error"],
  ["malformed_function_call", "error"],
]);

/** Reads an unknown reason as `stop`: providers invent many, and a failure has other signs. */
function readFinish(reason: JsonValue | undefined): ModelFinish | undefined {
  if (typeof reason !== "string" || reason === "") return undefined;
  return FINISHES.get(reason.toLowerCase()) ?? "stop";
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function nonBlank(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function quote(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : (value !== undefined && writeJson(value)) || "";
}

/** Writes JSON; undefined for a value nested too deeply, because JSON.stringify recurses. */
function writeJson(value: JsonValue): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
