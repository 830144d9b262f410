import { nestsTooDeep } from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { ModelWireId } from "../../protocol/model/declaration.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import type { Usage } from "../../protocol/model/usage.ts";

/** The part of one tool call in one event. Empty ids and names count as absent. */
export interface ToolCallFragment {
  /** The decoder's own number of the statement. Absent: index, id and name tell it. */
  readonly key?: number;
  /** Place in the provider's output. */
  readonly index?: number | string | undefined;
  readonly id?: string | undefined;
  readonly itemId?: string | undefined;
  readonly name?: string | undefined;
  /** "" when the event has no arguments; undefined when they cannot be written as text. */
  readonly arguments: string | undefined;
  /** The fragment is the whole call: it replaces what came before, except by blank arguments. */
  readonly isWhole?: boolean;
  /** See CallStatement; only with a `key`. */
  readonly list?: number;
  readonly isOpen?: boolean;
}

/** The content of one event of a provider's stream, in neutral terms. */
export interface StreamFacts {
  /** The provider's text about a failure; only the audit may hold it. */
  readonly error?: string | undefined;
  readonly text?: string | undefined;
  /** Reasoning in words for people: never part of the text. */
  readonly summary?: string | undefined;
  readonly fragments?: readonly ToolCallFragment[];
  readonly finish?: ModelFinish | undefined;
  readonly usage?: Usage | undefined;
  /** The answer is complete. */
  readonly isEnd?: boolean;
}

/**
 * Reads the events of one provider's stream; an instance is the state of one session.
 * Contract: pure but for its own state; never throws; linear in the events.
 */
export interface EventDecoder {
  readonly wire: ModelWireId;
  /** The line `[DONE]` completes an answer, also without a finish. */
  readonly endsWithDone: boolean;
  readEvent(event: JsonObject): StreamFacts;
  /** Reads a whole answer in one document; undefined when the document is no answer. */
  readDocument(document: JsonObject): StreamFacts | undefined;
  /**
   * Lists what the provider must see again, verbatim, with each call of these ids once; undefined
   * when there is nothing, or when one of the calls is missing.
   */
  opaqueItems(callIds: readonly string[]): readonly JsonObject[] | undefined;
}

/** Most text that a decoder keeps for `opaqueItems`; more is dropped. Unit: UTF-16 code units. */
const MAX_OPAQUE_CHARS = 2 * 1024 * 1024;

/** Decides whether all of an answer's opaque items can be kept. One per decoder. */
export class OpaqueRoom {
  #charsLeft = MAX_OPAQUE_CHARS;
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Gives up: part of the items is not known. */
  close(): void {
    this.#isOpen = false;
  }

  /** Makes room for text; false when there is none. */
  take(text: string): boolean {
    this.#charsLeft -= text.length;
    if (this.#charsLeft < 0) this.close();
    return this.#isOpen;
  }

  /** Makes room for a value. Threat: storing a value walks it, and a depth bomb has no end. */
  takeValue(value: JsonValue): boolean {
    const json = writeJson(value);
    if (json === undefined || nestsTooDeep(json)) this.close();
    return this.take(json ?? "");
  }
}

/** Leaves each call once among items; undefined when one is missing, or when two share an id. */
export function keepCallsOnce(
  items: readonly JsonObject[],
  callIds: readonly string[],
  idOf: (item: JsonObject) => JsonValue | undefined,
): readonly JsonObject[] | undefined {
  const left = new Set(callIds);
  if (left.size < callIds.length) return undefined;
  const kept = items.filter((item) => {
    const id = idOf(item);
    return id === undefined || left.delete(textOf(id));
  });
  return left.size === 0 ? kept : undefined;
}

export function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

export function nonBlank(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Writes a value for a failure's detail. */
export function quote(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : (value !== undefined && writeJson(value)) || "";
}

/** Writes JSON; undefined for a value nested too deeply, because JSON.stringify recurses. */
export function writeJson(value: JsonValue): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Finds the error that a chunk, an event or a document reports. */
export function readError(holder: JsonObject): string | undefined {
  const error = holder["error"];
  if (error !== undefined && error !== null && error !== false && error !== "") {
    return quote(error);
  }
  return holder["object"] === "error" || holder["type"] === "error" ? quote(holder) : undefined;
}

/** Far above what any model reads or writes in one call. */
const MAX_TOKENS_OF_CALL = 1_000_000_000;

/**
 * Reads a token count; undefined unless it is a whole number within 0 and the maximum.
 * Threat: a provider that reports one huge number and so uses up a tenant's budget.
 */
export function readCount(value: JsonValue | undefined): number | undefined {
  const isCount =
    typeof value === "number" &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    value <= MAX_TOKENS_OF_CALL;
  return isCount ? value : undefined;
}

interface Counts {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cached?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Builds a usage; undefined without input and output tokens. Details that are 0 are left out. */
export function toUsage({ input, output, cached, cacheWrite, reasoning }: Counts) {
  if (input === undefined || output === undefined) return undefined;
  const usage: Usage = {
    inputTokens: input,
    outputTokens: output,
    ...(cached && { cachedInputTokens: cached }),
    ...(cacheWrite && { cacheWriteTokens: cacheWrite }),
    ...(reasoning && { reasoningTokens: reasoning }),
  };
  return usage;
}

/** Parts of words with which providers name a failure, such as `engine_error` or `timed_out`. */
const FAILURE =
  /error|fail|abort|cancel|time(?:d_)?_?out|overload|malformed|unexpected|exception|unavailable|too_many|invalid|reject|interrupt|disconnect|quota|rate_?limit|missing/;

/**
 * Reads a finish word that no table lists. Providers invent many, so it is `other` unless the word
 * names a failure.
 */
export function readUnknownFinish(word: string, other: ModelFinish): ModelFinish {
  return FAILURE.test(word.toLowerCase()) ? "error" : other;
}
