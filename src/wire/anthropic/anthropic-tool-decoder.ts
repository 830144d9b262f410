import { nestsTooDeep } from "../../protocol/json/guard.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { SectionText } from "../model/section-text.ts";
import {
  keepCallsOnce,
  nonBlank,
  objectOf,
  OpaqueRoom,
  readCount,
  readError,
  type StreamFacts,
  type EventDecoder,
  textOf,
  toUsage,
  writeJson,
} from "../model/event-decoder.ts";
import { mergeFacts, readFinish } from "./read-message.ts";

/** One content block as it grows. Its pieces are joined when the block ends. */
interface OpenBlock {
  readonly start: JsonObject;
  /** Number of the block in the order of the starts; a provider may use an index again. */
  readonly key: number;
  readonly index: number;
  text: string;
  input: string;
  hasInput: boolean;
  readonly citations: JsonValue[];
  /** Fields that deltas set or replace. */
  readonly fields: Map<string, JsonValue>;
}

/** Far more blocks than an answer has, also when each cited piece of text is a block. */
const MAX_BLOCKS = 4_096;

/** What is read of a report of tokens. */
const COUNTS = [
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "input_tokens",
  "output_tokens",
  "output_tokens_details",
] as const;

/** Creates the decoder of one Messages stream. */
export function createMessageDecoder(): EventDecoder {
  return new MessageDecoder();
}

/**
 * Reads the events of one Messages stream. Only `message_stop` ends it. Thinking is a summary, not
 * text, and the blocks of tools that the provider runs are not calls.
 */
class MessageDecoder implements EventDecoder {
  readonly wire = "anthropic";
  readonly endsWithDone = false;
  readonly #open = new Map<number, OpenBlock>();
  readonly #blocks: { readonly index: number; readonly block: JsonObject }[] = [];
  readonly #counts: { [Name in (typeof COUNTS)[number]]?: JsonValue } = {};
  #started = 0;
  readonly #room = new OpaqueRoom();
  readonly #summary = new SectionText();
  /** A call that a program of the provider made. Nobody here may run it. */
  #hasForeignCall = false;
  #hasOwnCall = false;
  #isPaused = false;

  readEvent(event: JsonObject): StreamFacts {
    const at = readCount(event["index"]) ?? 0;
    switch (textOf(event["type"])) {
      case "message_start":
        // A gateway that asks its provider again starts anew, and what came before is no part.
        if (this.#started > 0) return { error: "the message began anew" };
        this.#count(objectOf(event["message"])?.["usage"]);
        return {};
      case "content_block_start":
        return this.#start(event["index"], objectOf(event["content_block"]) ?? {});
      case "content_block_delta":
        return this.#extend(at, objectOf(event["delta"]) ?? {});
      case "content_block_stop":
        return this.#stop(at);
      case "message_delta":
        return this.#finish(objectOf(event["delta"])?.["stop_reason"], event["usage"]);
      case "message_stop":
        return this.#end();
      default:
        return { error: readError(event) };
    }
  }

  readDocument(document: JsonObject): StreamFacts | undefined {
    const error = readError(document);
    if (error !== undefined) return { error };
    const { content } = document;
    if (document["type"] !== "message" || !isJsonArray(content)) return undefined;
    const facts = content.flatMap((block, index) => [
      this.#start(index, objectOf(block) ?? {}),
      this.#stop(index),
    ]);
    facts.push(this.#finish(document["stop_reason"], document["usage"]), this.#end());
    return mergeFacts(facts);
  }

  opaqueItems(callIds: readonly string[]): readonly JsonObject[] | undefined {
    const blocks = this.#blocks.toSorted((a, b) => a.index - b.index).map(({ block }) => block);
    const isNeeded = this.#isPaused || blocks.some(({ type }) => !isRebuilt(type));
    const isKept = isNeeded && this.#room.isOpen && !this.#hasForeignCall;
    return isKept ? keepCallsOnce(blocks, callIds, callIdOf) : undefined;
  }

  #start(place: JsonValue | undefined, start: JsonObject): StreamFacts {
    if (++this.#started > MAX_BLOCKS) return { error: "too many content blocks" };
    const [index, key] = [readCount(place) ?? 0, this.#started];
    const text = textOf(start["text"]);
    const kept = this.#room.takeValue(start) ? start : pickCall(start);
    const replaced = this.#open.get(index);
    const cut = replaced && isOwnCall(replaced) ? callPart(replaced, undefined).fragments : [];
    this.#open.set(index, {
      start: kept,
      key,
      index,
      text,
      input: "",
      hasInput: false,
      citations: [],
      fields: new Map(),
    });
    if (start["type"] === "thinking") {
      const summary = this.#summary.add(`${index}`, textOf(start["thinking"]));
      return { summary, fragments: cut };
    }
    if (start["type"] !== "tool_use") return { text, fragments: cut };
    const caller = objectOf(start["caller"])?.["type"] ?? "direct";
    if (caller !== "direct") {
      this.#hasForeignCall = true;
      return { fragments: cut };
    }
    this.#hasOwnCall = true;
    const [id, name] = [nonBlank(start["id"]), nonBlank(start["name"])];
    const call = { key, index: readCount(place), id, name, arguments: "" };
    return { fragments: [...cut, call] };
  }

  #extend(index: number, delta: JsonObject): StreamFacts {
    const block = this.#open.get(index);
    if (!block) return {};
    switch (textOf(delta["type"])) {
      case "text_delta": {
        const text = textOf(delta["text"]);
        if (this.#room.take(text)) block.text += text;
        return { text };
      }
      case "thinking_delta": {
        const thinking = textOf(delta["thinking"]);
        if (this.#room.take(thinking)) block.text += thinking;
        return { summary: this.#summary.add(`${index}`, thinking) };
      }
      case "input_json_delta": {
        const piece = textOf(delta["partial_json"]);
        if (this.#room.take(piece)) block.input += piece;
        block.hasInput ||= piece.trim() !== "";
        return isOwnCall(block) ? callPart(block, piece) : {};
      }
      case "signature_delta":
      case "compaction_delta": {
        const { type: _, ...changed } = delta;
        if (!this.#room.takeValue(changed)) return {};
        for (const [name, value] of Object.entries(changed)) block.fields.set(name, value);
        return {};
      }
      case "citations_delta": {
        const { citation = null } = delta;
        if (this.#room.takeValue(citation)) block.citations.push(citation);
        return {};
      }
      default:
        this.#room.close();
        return {};
    }
  }

  #stop(index: number): StreamFacts {
    const block = this.#open.get(index);
    if (!block) return {};
    this.#open.delete(index);
    const whole = closeBlock(block);
    if (whole) this.#blocks.push({ index, block: whole });
    else this.#room.close();
    // Some servers send the whole input with the start of the block. Most send an empty object
    // there, also for a call whose input never arrives.
    const input = block.start["input"];
    const isInputGiven = isOwnCall(block) && !block.hasInput && input !== undefined;
    const text = isInputGiven ? writeJson(input) : "{}";
    return text === "{}" ? {} : callPart(block, text);
  }

  #finish(reason: JsonValue | undefined, usage: JsonValue | undefined): StreamFacts {
    const finish = readFinish(reason);
    this.#isPaused ||= finish === "pause";
    const counted = this.#count(usage);
    // Without a final report nobody knows the output; that of the start would be too low.
    const isFinal = readCount(objectOf(usage)?.["output_tokens"]) !== undefined;
    return { ...(isFinal && counted), finish };
  }

  /** Ends the message. A call whose block is still open was cut off and never runs. */
  #end(): StreamFacts {
    if (this.#hasForeignCall && !this.#hasOwnCall) {
      return { error: "a tool call of a program, which cannot run here" };
    }
    const cut = [...this.#open.values()].filter(isOwnCall);
    if (this.#open.size > 0) this.#room.close();
    return { fragments: cut.flatMap((block) => callPart(block, undefined).fragments), isEnd: true };
  }

  /**
   * Reads a report of tokens; a later report replaces the fields that it has.
   * Threat: a report of a million fields, which each later report would copy.
   */
  #count(usage: JsonValue | undefined): StreamFacts {
    const reported = objectOf(usage);
    for (const name of COUNTS) {
      const count = reported?.[name];
      if (count !== undefined) this.#counts[name] = count;
    }
    const cached = readCount(this.#counts.cache_read_input_tokens) ?? 0;
    const cacheWrite = readCount(this.#counts.cache_creation_input_tokens) ?? 0;
    const input = readCount(this.#counts.input_tokens);
    const output = readCount(this.#counts.output_tokens);
    const details = objectOf(this.#counts.output_tokens_details);
    return {
      usage: toUsage({
        // The provider counts cached input apart.
        input: input === undefined ? undefined : input + cached + cacheWrite,
        output,
        cached,
        cacheWrite,
        reasoning: readCount(details?.["thinking_tokens"]),
      }),
    };
  }
}

function callIdOf({ type, id = null }: JsonObject): JsonValue | undefined {
  return type === "tool_use" ? id : undefined;
}

function isOwnCall({ start }: OpenBlock): boolean {
  return (
    start["type"] === "tool_use" && (objectOf(start["caller"])?.["type"] ?? "direct") === "direct"
  );
}

function callPart({ key }: OpenBlock, text: string | undefined) {
  return { fragments: [{ key, arguments: text }] };
}

/** Keeps what a call needs of a block that is not kept. */
function pickCall({ type = null, caller = null, input = null }: JsonObject): JsonObject {
  return { type, caller, ...(type === "tool_use" && { input }) };
}

/** Our own message holds text and calls already. */
function isRebuilt(type: JsonValue | undefined): boolean {
  return type === "text" || type === "tool_use";
}

/** Builds the block as the provider must see it again; undefined when it cannot be built. */
function closeBlock(block: OpenBlock): JsonObject | undefined {
  const { start, text, input, citations } = block;
  const fields = Object.fromEntries(block.fields);
  const type = start["type"];
  if (type === "text") return { ...start, text, ...(citations.length > 0 && { citations }) };
  if (type === "thinking")
    return { ...start, thinking: textOf(start["thinking"]) + text, ...fields };
  if (input.trim() === "") return { ...start, ...fields };
  if (nestsTooDeep(input)) return undefined;
  try {
    const parsed: unknown = JSON.parse(input);
    return objectOf(parsed as JsonValue) && { ...start, input: parsed as JsonObject };
  } catch {
    return undefined;
  }
}
