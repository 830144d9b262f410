import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { OpaqueAnswer } from "../../protocol/conversation/message.ts";
import type {
  ModelEvent,
  ModelFailure,
  ModelFinish,
  ModelAnswer,
} from "../../protocol/model/event.ts";
import { parseArguments, type ToolCall } from "../../protocol/tool/call.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import { DeltaText } from "./delta-text.ts";
import { describeWrongWire, wireOf } from "./foreign-wire.ts";
import type { StreamFacts, EventDecoder } from "./event-decoder.ts";
import { type AssembledCall, ToolCallAssembler } from "./tool-call-assembler.ts";

/** Limits of one decode session. */
export interface DecoderLimits {
  /** A call with longer arguments is marked truncated; the stream goes on. */
  readonly maxArgumentsBytes: number;
  readonly maxCalls: number;
  /** Holds for the text, and for the reasoning summary. */
  readonly maxTextBytes: number;
  /** Unit: UTF-16 code units of one event's data, or of a whole JSON answer. */
  readonly maxFrameChars: number;
}

export const DEFAULT_DECODER_LIMITS: DecoderLimits = {
  maxArgumentsBytes: 256 * 1024,
  maxCalls: 128,
  maxTextBytes: 1024 * 1024,
  maxFrameChars: 4 * 1024 * 1024,
};

export interface AnswerDecoderOptions {
  readonly limits?: Partial<DecoderLimits>;
  /** Who answers. Without it no opaque items are kept. */
  readonly author?: Pick<OpaqueAnswer, "wire" | "model">;
  /** Passes reasoning summaries on. Default: false. */
  readonly summaries?: boolean | undefined;
  /** Names of the tools that the model was offered. */
  readonly toolNames?: readonly string[];
  /** Reverts in the arguments what the encoder changed in the schema; see EncodedTools. */
  readonly restoreArguments?: (toolName: string, argumentsText: string) => string;
}

/** Room for `data: ` and line ends, so that the frame limit applies before the parser's limit. */
const FRAME_OVERHEAD_CHARS = 16;
const MAX_DETAIL_CHARS = 8_192;

/**
 * Decodes one streamed answer of a model; an instance is the state of one session. The event
 * decoder knows the format of the provider.
 * Contract: every method returns the new events, in order. The first batch that ends in an `answer`
 * is the last batch that is not empty. Within the limits the answer does not depend on how the text
 * is split. Never throws. Time and memory are linear in the text; no index sizes an allocation.
 * Fails: in the answer, with upstream_ambiguous, upstream_error_event, upstream_malformed,
 * upstream_too_large, upstream_truncated, upstream_wrong_wire. A failed answer lists no tool call.
 */
export class AnswerDecoder {
  readonly #events: EventDecoder;
  readonly #author: AnswerDecoderOptions["author"];
  readonly #limits: DecoderLimits;
  readonly #restoreArguments: (toolName: string, argumentsText: string) => string;
  readonly #parser: EventSourceParser;
  readonly #calls: ToolCallAssembler;
  #batch: ModelEvent[] = [];
  readonly #summaries: boolean;
  readonly #deltas: { readonly text: DeltaText; readonly summary: DeltaText };
  #text = "";
  #isOwnWire = false;
  #finish: ModelFinish | undefined;
  #usage: Usage | undefined;
  #ending = false;
  #finished = false;
  #succeeded = false;

  constructor(events: EventDecoder, options: AnswerDecoderOptions = {}) {
    this.#events = events;
    this.#author = options.author;
    this.#summaries = options.summaries ?? false;
    this.#limits = { ...DEFAULT_DECODER_LIMITS, ...options.limits };
    const { maxTextBytes } = this.#limits;
    this.#deltas = { text: new DeltaText(maxTextBytes), summary: new DeltaText(maxTextBytes) };
    this.#restoreArguments = options.restoreArguments ?? ((_, argumentsText) => argumentsText);
    this.#calls = new ToolCallAssembler(this.#limits, options.toolNames ?? []);
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

  /** Decodes a body that is one JSON document: a whole answer or an error. */
  feedAnswer(body: string): readonly ModelEvent[] {
    const document = body.length <= this.#limits.maxFrameChars ? parseDocument(body) : undefined;
    if (document) this.#checkWire(document);
    const facts = document && this.#events.readDocument(document);
    if (facts) this.#addFacts(facts);
    else this.#fail("upstream_not_a_stream", "neither events nor an answer in one document");
    return this.#takeBatch();
  }

  /** Ends the body. */
  end(): readonly ModelEvent[] {
    this.#ending = true;
    // A whole last event counts also without its blank line.
    if (!this.#finished) this.#parser.feed("\n\n");
    const isOver = this.#events.endsWithDone && this.#finish !== undefined;
    if (isOver) this.#complete();
    else this.#fail("upstream_truncated", "the stream ended before the answer did");
    return this.#takeBatch();
  }

  /** Ends the session with a failure from outside the body. Contract: an earlier end stays. */
  fail(failure: ModelFailure): readonly ModelEvent[] {
    this.#emitAnswer("error", { failure });
    return this.#takeBatch();
  }

  #readEvent({ event, data }: EventSourceMessage): void {
    if (this.#finished) return;
    if (data.length > this.#limits.maxFrameChars) return this.#failTooLarge("one event's data");
    if (event === "error") return this.#fail("upstream_error_event", data);
    const content = data.trim();
    if (content === "" || event === "ping") return;
    if (content === "[DONE]") {
      if (this.#events.endsWithDone) this.#complete();
      return;
    }
    const document = parseDocument(content);
    if (document) this.#checkWire(document);
    if (document) this.#addFacts(this.#events.readEvent(document));
    // A body that ends inside an event was cut; its JSON is not malformed.
    else if (this.#ending) this.#fail("upstream_truncated", "the stream ended inside an event");
    else this.#fail("upstream_malformed", `not a JSON object: ${content}`);
  }

  /** Fails an answer of another wire at once: its events would be none of this one. */
  #checkWire(document: JsonObject): void {
    if (this.#isOwnWire) return;
    const { wire } = this.#events;
    const found = wireOf(document);
    this.#isOwnWire = found === wire;
    if (found === undefined || found === wire) return;
    this.#fail("upstream_wrong_wire", describeWrongWire(wire, found, this.#author?.model));
  }

  #addFacts(facts: StreamFacts): void {
    const { usage, text = "", summary = "", error, fragments = [], finish, isEnd } = facts;
    this.#usage = usage ?? this.#usage;
    if (this.#summaries) this.#addDelta("summary", summary);
    this.#addDelta("text", text);
    if (error !== undefined) this.#fail("upstream_error_event", error);
    if (!this.#calls.add(fragments)) this.#failTooLarge("the number of tool calls");
    if (finish !== undefined) this.#finish = worse(this.#finish, finish);
    if (isEnd) this.#complete();
  }

  #addDelta(kind: "text" | "summary", delta: string): void {
    if (delta === "") return;
    const whole = this.#deltas[kind].take(delta);
    if (whole === undefined) this.#failTooLarge(`the ${kind}`);
    else this.#emitDelta(kind, whole);
  }

  #emitDelta(kind: "text" | "summary", text: string): void {
    if (text === "" || this.#finished) return;
    if (kind === "text") this.#text += text;
    this.#batch.push({ type: `${kind}_delta`, text });
  }

  /** Without a cut and without an error the tool calls decide the finish. */
  #complete(): void {
    if (this.#finish === "error") return this.#fail("upstream_error_event", "a failed answer");
    const calls = this.#calls.list();
    if (!calls) return this.#fail("upstream_ambiguous", "it is unclear which calls the answer has");
    if (calls.some(({ name }) => name === "")) {
      return this.#fail("upstream_malformed", "a tool call without a name");
    }
    const isCut = this.#finish !== undefined && BADNESS[this.#finish] > 0;
    const isPaused = this.#finish === "pause" && calls.length === 0;
    const finish = isCut || isPaused ? this.#finish : undefined;
    this.#emitAnswer(finish, { calls });
  }

  #failTooLarge(what: string): void {
    this.#fail("upstream_too_large", `${what} passed its limit`);
  }

  #fail(code: ModelFailure["code"], detail: string): void {
    this.#emitAnswer("error", { failure: { code, detail: detail.slice(0, MAX_DETAIL_CHARS) } });
  }

  /** Emits the one answer; without a given finish the tool calls decide the finish. */
  #emitAnswer(
    finish: ModelFinish | undefined,
    { calls = [], failure }: { calls?: readonly AssembledCall[]; failure?: ModelFailure },
  ): void {
    if (this.#finished) return;
    this.#emitDelta("summary", this.#deltas.summary.takeRest());
    this.#emitDelta("text", this.#deltas.text.takeRest());
    this.#finished = true;
    this.#succeeded = failure === undefined;
    const cut = finish !== undefined && finish !== "pause";
    const toolCalls = calls.map((call) => this.#closeCall(call, cut));
    const author = failure ? undefined : this.#author;
    const items = author && this.#events.opaqueItems(calls.map(({ toolCallId }) => toolCallId));
    const answer: ModelAnswer = {
      text: this.#text,
      toolCalls,
      finish: finish ?? (toolCalls.length > 0 ? "tool_calls" : "stop"),
      ...(this.#usage && { usage: this.#usage }),
      ...(author && items && { opaque: { ...author, items } }),
      ...(failure && { failure }),
    };
    this.#batch.push({ type: "answer", answer });
  }

  /**
   * In a cut answer, arguments that are blank or do not parse count as truncated. Without an
   * explicit finish, blank arguments may be arguments that never arrived.
   */
  #closeCall(call: AssembledCall, cut: boolean): ToolCall {
    const { toolCallId, name, arguments: collected, isCut } = call;
    if (collected.overflowed) return { toolCallId, name, argumentsText: "", truncated: true };
    const text = collected.toString();
    const whole: ToolCall = { toolCallId, name, argumentsText: text, truncated: false };
    const isSilent = collected.blank && (cut || this.#finish === undefined);
    if (isCut || isSilent || (cut && !parseArguments(whole).ok))
      return { ...whole, truncated: true };
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
  pause: 0,
  length: 1,
  content_filter: 1,
  refusal: 1,
  context_window: 1,
  error: 2,
};

/** Answers the worse of two finishes: a later `stop` does not undo a reported cut. */
function worse(seen: ModelFinish | undefined, next: ModelFinish): ModelFinish {
  return seen !== undefined && BADNESS[seen] >= BADNESS[next] ? seen : next;
}
