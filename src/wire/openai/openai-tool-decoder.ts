import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type {
  ModelEvent,
  ModelFailure,
  ModelFinish,
  ModelAnswer,
} from "../../protocol/model/event.ts";
import { parseArguments, type ToolCall } from "../../protocol/tool/call.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import { isHighSurrogate } from "../../protocol/text/encoding.ts";
import { readChunk } from "./read-chunk.ts";
import { type AssembledCall, ToolCallAssembler } from "./tool-call-assembler.ts";
import { utf8Length } from "./utf8-length.ts";

/** Limits of one decode session. */
export interface OpenAIDecoderLimits {
  /** A call with longer arguments is marked truncated; the stream goes on. */
  readonly maxArgumentsBytes: number;
  readonly maxCalls: number;
  readonly maxTextBytes: number;
  /** Unit: UTF-16 code units of one event's data, or of a whole JSON answer. */
  readonly maxFrameChars: number;
}

export const DEFAULT_DECODER_LIMITS: OpenAIDecoderLimits = {
  maxArgumentsBytes: 256 * 1024,
  maxCalls: 128,
  maxTextBytes: 1024 * 1024,
  maxFrameChars: 4 * 1024 * 1024,
};

export interface OpenAIDecoderOptions {
  readonly limits?: Partial<OpenAIDecoderLimits>;
  /** Reverts in the arguments what the encoder changed in the schema; see EncodedTools. */
  readonly restoreArguments?: (toolName: string, argumentsText: string) => string;
}

/** Room for `data: ` and line ends, so that the frame limit applies before the parser's limit. */
const FRAME_OVERHEAD_CHARS = 16;
const MAX_DETAIL_CHARS = 8_192;

/**
 * Decodes one streamed Chat Completions answer; an instance is the state of one session.
 * Contract: every method returns the new events, in order. The first batch that ends in an `answer`
 * is the last batch that is not empty. Within the limits the answer does not depend on how the text
 * is split. Never throws. Time and memory are linear in the text; no index sizes an allocation.
 * Fails: in the answer, with upstream_error_event, upstream_malformed, upstream_too_large,
 * upstream_truncated. A failed answer lists no tool call.
 */
export class OpenAIToolDecoder {
  readonly #limits: OpenAIDecoderLimits;
  readonly #restoreArguments: (toolName: string, argumentsText: string) => string;
  readonly #parser: EventSourceParser;
  readonly #calls: ToolCallAssembler;
  #batch: ModelEvent[] = [];
  #text = "";
  #textBytes = 0;
  /** First half of a surrogate pair whose second half is missing: UTF-8 cannot encode it alone. */
  #halfPair = "";
  #finish: ModelFinish | undefined;
  #usage: Usage | undefined;
  #ending = false;
  #finished = false;
  #succeeded = false;

  constructor(options: OpenAIDecoderOptions = {}) {
    this.#limits = { ...DEFAULT_DECODER_LIMITS, ...options.limits };
    this.#restoreArguments = options.restoreArguments ?? ((_, argumentsText) => argumentsText);
    this.#calls = new ToolCallAssembler(this.#limits);
    this.#parser = createParser({
      maxBufferSize: this.#limits.maxFrameChars + FRAME_OVERHEAD_CHARS,
      onEvent: (event) => this.#readEvent(event),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#failTooLarge("one event's data");
      },
    });
  }

  /** True once the answer was emitted; more text changes nothing. */
  get finished(): boolean {
    return this.#finished;
  }

  /** True once the answer was emitted without a failure. */
  get succeeded(): boolean {
    return this.#succeeded;
  }

  /** Decodes the next piece of the body, which may be cut anywhere. */
  feed(text: string): readonly ModelEvent[] {
    if (!this.#finished) this.#parser.feed(text);
    return this.#takeBatch();
  }

  /** Decodes a body that is one JSON document: a whole `chat.completion` or an error. */
  feedAnswer(body: string): readonly ModelEvent[] {
    const answer = body.length <= this.#limits.maxFrameChars ? parseDocument(body) : undefined;
    if (answer === undefined)
      this.#fail("upstream_not_a_stream", "neither events nor a completion");
    else if (!Array.isArray(answer["choices"]) && readChunk(answer).error === undefined) {
      this.#fail("upstream_not_a_stream", "a JSON document that is no completion");
    } else {
      this.#readChunk(answer);
      this.#complete();
    }
    return this.#takeBatch();
  }

  /** Ends the body. */
  end(): readonly ModelEvent[] {
    this.#ending = true;
    // A whole last event counts also without its blank line.
    if (!this.#finished) this.#parser.feed("\n\n");
    if (this.#finish === undefined) {
      this.#fail("upstream_truncated", "the stream ended without a finish reason or [DONE]");
    }
    this.#complete();
    return this.#takeBatch();
  }

  /** Ends the session with a failure from outside the body. Contract: an earlier end stays. */
  fail(failure: ModelFailure): readonly ModelEvent[] {
    this.#emitAnswer("error", failure);
    return this.#takeBatch();
  }

  #readEvent({ event, data }: EventSourceMessage): void {
    if (this.#finished) return;
    if (data.length > this.#limits.maxFrameChars) return this.#failTooLarge("one event's data");
    if (event === "error") return this.#fail("upstream_error_event", data);
    const content = data.trim();
    if (content === "" || event === "ping") return;
    if (content === "[DONE]") return this.#complete();
    const chunk = parseDocument(content);
    if (chunk) this.#readChunk(chunk);
    // A body that ends inside an event was cut; its JSON is not malformed.
    else if (this.#ending) this.#fail("upstream_truncated", "the stream ended inside an event");
    else this.#fail("upstream_malformed", `not a JSON object: ${content}`);
  }

  #readChunk(chunk: JsonObject): void {
    const facts = readChunk(chunk);
    this.#usage = facts.usage ?? this.#usage;
    this.#addText(facts.text);
    if (facts.error !== undefined) this.#fail("upstream_error_event", facts.error);
    if (!this.#calls.add(facts.fragments)) this.#failTooLarge("the number of tool calls");
    if (facts.finish !== undefined) this.#finish = worse(this.#finish, facts.finish);
  }

  #addText(delta: string): void {
    if (delta === "") return;
    this.#textBytes += utf8Length(delta);
    if (this.#textBytes > this.#limits.maxTextBytes) return this.#failTooLarge("the text");
    const text = this.#halfPair + delta;
    const cut = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    this.#halfPair = text.slice(cut);
    this.#emitText(text.slice(0, cut));
  }

  #emitText(text: string): void {
    if (text === "" || this.#finished) return;
    this.#text += text;
    this.#batch.push({ type: "text_delta", text });
  }

  #complete(): void {
    const cut = this.#finish === "length" || this.#finish === "content_filter";
    this.#emitAnswer(cut ? this.#finish : undefined);
  }

  #failTooLarge(what: string): void {
    this.#fail("upstream_too_large", `${what} passed its limit`);
  }

  #fail(code: ModelFailure["code"], detail: string): void {
    this.#emitAnswer("error", { code, detail: detail.slice(0, MAX_DETAIL_CHARS) });
  }

  /** Emits the one answer; without a given finish the tool calls decide the finish. */
  #emitAnswer(finish: ModelFinish | undefined, failure?: ModelFailure): void {
    if (this.#finished) return;
    this.#emitText(this.#halfPair);
    this.#finished = true;
    this.#succeeded = failure === undefined;
    const cut = finish !== undefined;
    const toolCalls = failure ? [] : this.#calls.list().map((call) => this.#closeCall(call, cut));
    const answer: ModelAnswer = {
      text: this.#text,
      toolCalls,
      finish: finish ?? (toolCalls.length > 0 ? "tool_calls" : "stop"),
      ...(this.#usage && { usage: this.#usage }),
      ...(failure && { failure }),
    };
    this.#batch.push({ type: "answer", answer });
  }

  /** In a cut answer, arguments that are blank or do not parse count as truncated. */
  #closeCall({ toolCallId, name, arguments: collected }: AssembledCall, cut: boolean): ToolCall {
    if (collected.overflowed) return { toolCallId, name, argumentsText: "", truncated: true };
    const text = collected.toString();
    const whole: ToolCall = { toolCallId, name, argumentsText: text, truncated: false };
    if (cut && (collected.blank || !parseArguments(whole).ok)) return { ...whole, truncated: true };
    return { ...whole, argumentsText: this.#restoreArguments(name, text) };
  }

  #takeBatch(): readonly ModelEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }
}

/** Parses one JSON object; some providers wrap an error into an array of one element. */
function parseDocument(text: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const document: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return isJsonObject(document) ? document : undefined;
}

const BADNESS: { readonly [Finish in ModelFinish]: number } = {
  stop: 0,
  tool_calls: 0,
  length: 1,
  content_filter: 1,
  error: 2,
};

/** Answers the worse of two finishes: a later `stop` does not undo a reported cut. */
function worse(seen: ModelFinish | undefined, next: ModelFinish): ModelFinish {
  return seen !== undefined && BADNESS[seen] >= BADNESS[next] ? seen : next;
}
