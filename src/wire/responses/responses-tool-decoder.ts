import type { JsonObject } from "../../protocol/json/value.ts";
import {
  nonBlank,
  objectOf,
  quote,
  readError,
  type StreamFacts,
  type EventDecoder,
  textOf,
  type ToolCallFragment,
  writeJson,
} from "../model/event-decoder.ts";
import { KeptItems } from "./kept-items.ts";
import { MessageTexts } from "./message-texts.ts";
import { findSlot, haveSameKeys, type ItemKeys, keysOf, type Slot } from "./output-slots.ts";
import { listOf, readFinish, readUsage } from "./read-response.ts";
import { SummaryReader } from "./summary-reader.ts";

/** A call as the stream states it. */
interface CallSlot extends Slot {
  /** Number of the statement. */
  readonly key: number;
  hasArguments: boolean;
  /** The provider says that the call is complete. */
  isComplete: boolean;
}

/** Far more messages and calls than an answer has. */
const MAX_SLOTS = 512;

/** Creates the decoder of one Responses stream. */
export function createResponseDecoder(): EventDecoder {
  return new ResponseDecoder();
}

/**
 * Reads the events of one Responses stream. Only a terminal event ends it. Items other than
 * messages and function calls are the provider's own work: neither text nor calls. A call may be
 * stated several times; `mergeStatements` decides which statements are one call.
 */
class ResponseDecoder implements EventDecoder {
  readonly wire = "responses";
  readonly endsWithDone = false;
  readonly #calls: CallSlot[] = [];
  readonly #messages = new MessageTexts();
  readonly #items = new KeptItems();
  readonly #summaries = new SummaryReader();

  readEvent(event: JsonObject): StreamFacts {
    switch (textOf(event["type"])) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return { text: this.#messages.readDelta(event, keysOf(event)), error: this.#tooMany };
      case "response.reasoning_summary_text.delta":
        return { summary: this.#summaries.readDelta(event) };
      case "response.output_item.added":
        return this.#addItem(event);
      case "response.function_call_arguments.delta":
        return this.#addArguments(event);
      case "response.function_call_arguments.done":
        return this.#addArguments(event, true);
      case "response.output_item.done":
        return this.#finishItem(event);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return this.#end(objectOf(event["response"]) ?? {}, textOf(event["type"]));
      default:
        return { error: readError(event) };
    }
  }

  /** Threat: a slot is searched for at each event, so their number is bounded. */
  get #tooMany(): string | undefined {
    const count = this.#calls.length + this.#messages.count;
    return count > MAX_SLOTS ? "too many output items" : undefined;
  }

  readDocument(document: JsonObject): StreamFacts | undefined {
    if (document["object"] === "response") return this.#end(document, "");
    const error = readError(document);
    return error === undefined ? undefined : { error };
  }

  opaqueItems(callIds: readonly string[]): readonly JsonObject[] | undefined {
    return this.#items.list(callIds);
  }

  #addItem(event: JsonObject): StreamFacts {
    const item = objectOf(event["item"]) ?? {};
    const [type, keys] = [item["type"], keysOf(event, item)];
    if (type === "custom_tool_call") return { error: describeCustom(item) };
    if (type === "message") this.#messages.open(keys);
    if (type !== "function_call") return { error: this.#tooMany };
    const isRepeated = this.#open().some(
      (slot) => !slot.hasArguments && haveSameKeys(slot.keys, keys),
    );
    if (isRepeated) return {};
    const { key } = this.#openCall(keys);
    return { error: this.#tooMany, fragments: [{ ...statedOf(key, item, keys), arguments: "" }] };
  }

  #addArguments(event: JsonObject, isWhole = false): StreamFacts {
    const text = textOf(event[isWhole ? "arguments" : "delta"]);
    const keys = keysOf(event);
    // The whole arguments may also come after their item.
    const isLate = ({ keys: known }: CallSlot): boolean => isWhole && haveSameKeys(known, keys);
    const slot =
      findSlot(this.#open(), keys) ?? this.#calls.findLast(isLate) ?? this.#openCall(keys);
    slot.hasArguments = true;
    const [{ key, isDone }, { itemId, outputIndex: index }] = [slot, keys];
    return {
      fragments: [{ key, index, itemId, arguments: text, isWhole, isOpen: !isDone }],
      error: this.#tooMany,
    };
  }

  /** Reads a whole item. What deltas lacked is added; a call's arguments are replaced. */
  #finishItem(event: JsonObject): StreamFacts {
    const item = objectOf(event["item"]) ?? {};
    const [type, keys] = [item["type"], keysOf(event, item)];
    this.#items.keep(item, keys.outputIndex);
    const summary = this.#summaries.readItem(item);
    if (type === "custom_tool_call") return { summary, error: describeCustom(item) };
    if (type === "message") {
      return { summary, text: this.#messages.readItem(item, keys), error: this.#tooMany };
    }
    if (type !== "function_call") return { summary };
    const slot = findSlot(this.#open(), keys) ?? this.#openCall(keys);
    slot.isDone = true;
    slot.isComplete = item["status"] === "completed";
    // Also a call that was cut off gets this event. Only its status tells.
    const whole = wholeArguments(item);
    const isOpen = !isSettled(item) && whole?.trim() === "";
    const stated = statedOf(slot.key, item, keys);
    const fragments = [{ ...stated, arguments: whole, isWhole: true, isOpen }];
    return { summary, fragments, error: this.#tooMany };
  }

  /** Reads the terminal event. Some servers list the output only here, others not here. */
  #end(response: JsonObject, type: string): StreamFacts {
    const output = listOf(response["output"]);
    if (this.#items.isEmpty) for (const item of output) this.#items.keep(item, undefined);
    if (output.length > MAX_SLOTS) return { error: "too many output items" };
    const finish = readFinish(response, type);
    // In a cut answer only a call that the provider calls complete is whole.
    const isCut = finish !== "stop";
    const cut = this.#calls.filter(({ isComplete }) => isCut && !isComplete);
    const custom = output.find((item) => item["type"] === "custom_tool_call");
    return {
      error:
        (custom && describeCustom(custom)) ??
        (finish === "error" ? describeFailure(response, type) : undefined),
      summary: this.#summaries.readOutput(output),
      text: output.map((item) => this.#listText(item)).join(""),
      fragments: [
        ...cut.map(({ key }) => ({ key, arguments: undefined })),
        ...output.flatMap((item, place) => this.#listCall(item, { place, isCut })),
      ],
      usage: readUsage(response["usage"]),
      finish: finish === "stop" && this.#messages.hasRefused ? "refusal" : finish,
      isEnd: true,
    };
  }

  #listText(item: JsonObject): string {
    return item["type"] === "message" ? this.#messages.readListed(item, keysOf({}, item)) : "";
  }

  #listCall(
    item: JsonObject,
    { place, isCut }: { readonly place: number; readonly isCut: boolean },
  ): readonly ToolCallFragment[] {
    if (item["type"] !== "function_call") return [];
    const isWhole = !isCut || item["status"] === "completed";
    const text = isWhole ? wholeArguments(item) : undefined;
    const keys = { ...keysOf({}, item), outputIndex: place };
    const stated = statedOf(this.#calls.length + place, item, keys);
    return [{ ...stated, arguments: text, isWhole: true, list: 1, isOpen: !isSettled(item) }];
  }

  #open(): readonly CallSlot[] {
    return this.#calls.filter(({ isDone }) => !isDone);
  }

  #openCall(keys: ItemKeys): CallSlot {
    const key = this.#calls.length;
    const slot = { key, keys, isDone: false, isComplete: false, hasArguments: false };
    this.#calls.push(slot);
    return slot;
  }
}

/** Until its item is done, nobody knows whether more of the call was to come. */
function statedOf(key: number, item: JsonObject, { callId, itemId, outputIndex }: ItemKeys) {
  return {
    key,
    index: outputIndex,
    id: callId,
    itemId,
    name: nonBlank(item["name"]),
    isOpen: true,
  };
}

/** Tells whether the provider calls the item complete. Many servers send no status. */
function isSettled({ status }: JsonObject): boolean {
  return (nonBlank(status) ?? "completed") === "completed";
}

/** Reads the arguments of a whole call; undefined for a call that was cut off. */
function wholeArguments(item: JsonObject): string | undefined {
  if (item["status"] === "incomplete") return undefined;
  const { arguments: text = "" } = item;
  return typeof text === "string" ? text : writeJson(text);
}

function describeCustom(item: JsonObject): string {
  return `a call of the kind custom, which cannot run here: ${quote(item["name"])}`;
}

function describeFailure(response: JsonObject, type: string): string {
  return readError(response) ?? `${type} ${quote(response["incomplete_details"])}`;
}
