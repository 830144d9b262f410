import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import { AnswerDecoder, type AnswerDecoderOptions } from "../model/answer-decoder.ts";
import {
  nonBlank,
  objectOf,
  quote,
  readCount,
  readError,
  readUnknownFinish,
  type StreamFacts,
  type EventDecoder,
  type ToolCallFragment,
  toUsage,
  writeJson,
} from "../model/event-decoder.ts";

/**
 * Decodes one streamed Chat Completions answer; an instance is the state of one session.
 * Contract: that of AnswerDecoder.
 */
export class OpenAIToolDecoder extends AnswerDecoder {
  constructor(options: AnswerDecoderOptions = {}) {
    super(createChunkDecoder(), options);
  }
}

/** Creates a decoder of the chunks of one answer. */
export function createChunkDecoder(): EventDecoder {
  let said = "";
  const readEvent = (chunk: JsonObject): StreamFacts => {
    const facts = readChunk(chunk);
    const { text = "" } = facts;
    // A whole message may repeat the text of the deltas before it.
    const isRepeated = facts.isMessage && text.startsWith(said);
    const rest = isRepeated ? text.slice(said.length) : text;
    said += rest;
    return { ...facts, text: rest };
  };
  return {
    wire: "openai",
    endsWithDone: true,
    readEvent,
    readDocument: (document) => {
      const facts = readEvent(document);
      const isAnswer = Array.isArray(document["choices"]) || facts.error !== undefined;
      return isAnswer ? { ...facts, isEnd: true } : undefined;
    },
    opaqueItems: () => undefined,
  };
}

/**
 * Reads an untrusted chunk or a whole `chat.completion`.
 * Contract: pure; never throws; reads choice 0 only; reads `message` only where `delta` is absent.
 */
function readChunk(chunk: JsonObject): StreamFacts & { readonly isMessage: boolean } {
  const choice = firstChoice(chunk["choices"]);
  const part = objectOf(choice?.["delta"]);
  const delta = part ?? objectOf(choice?.["message"]);
  const isMessage = !part && delta !== undefined;
  const finish = readFinish(choice?.["finish_reason"]);
  return {
    isMessage,
    error:
      readError(chunk) ??
      (choice && readError(choice)) ??
      brokenFinish(choice, finish) ??
      (delta && foreignCall(delta)),
    text: delta ? readText(delta) : "",
    fragments: delta ? readFragments(delta, isMessage) : [],
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

function brokenFinish(
  choice: JsonObject | undefined,
  finish: ModelFinish | undefined,
): string | undefined {
  return finish === "error" ? `finish reason ${quote(choice?.["finish_reason"])}` : undefined;
}

/** Names a call of a kind that cannot run here, such as a custom tool call. */
function foreignCall(delta: JsonObject): string | undefined {
  const calls = delta["tool_calls"];
  if (!Array.isArray(calls)) return undefined;
  for (const call of calls) {
    if (!isJsonObject(call) || objectOf(call["function"])) continue;
    const kind = nonBlank(call["type"]) ?? (objectOf(call["custom"]) && "custom");
    if (kind === undefined || kind === "function") continue;
    const name = nonBlank(objectOf(call[kind])?.["name"]) ?? "";
    return `a call of the kind ${quote(kind)}, which cannot run here: ${quote(name)}`;
  }
  return undefined;
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

/** Reads the pieces of a delta, or the calls of a whole message, which lists each of them. */
function readFragments(delta: JsonObject, isList: boolean): readonly ToolCallFragment[] {
  const calls = delta["tool_calls"];
  const legacy = objectOf(delta["function_call"]);
  const stated = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
  const pieces = stated.length === 0 && legacy ? [{ function: legacy }] : stated;
  return pieces.map((call, at) => readFragment(call, isList ? at : undefined));
}

function readFragment(call: JsonObject, listedAt: number | undefined): ToolCallFragment {
  const asked = objectOf(call["function"]);
  const index = call["index"];
  return {
    ...(listedAt !== undefined && { key: listedAt, list: 1, isWhole: true }),
    index: typeof index === "number" || typeof index === "string" ? index : listedAt,
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

function readUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = objectOf(value);
  const input = objectOf(usage?.["prompt_tokens_details"]);
  const output = objectOf(usage?.["completion_tokens_details"]);
  return toUsage({
    input: readCount(usage?.["prompt_tokens"]),
    output: readCount(usage?.["completion_tokens"]),
    cached: readCount(input?.["cached_tokens"]),
    cacheWrite: readCount(input?.["cache_write_tokens"]),
    reasoning: readCount(output?.["reasoning_tokens"]),
  });
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
  ["insufficient_system_resource", "error"],
]);
function readFinish(reason: JsonValue | undefined): ModelFinish | undefined {
  if (typeof reason !== "string" || reason === "") return undefined;
  return FINISHES.get(reason.toLowerCase()) ?? readUnknownFinish(reason, "stop");
}
