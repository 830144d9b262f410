import type { JsonObject } from "../../protocol/json/value.ts";
import {
  nonBlank,
  objectOf,
  OpaqueRoom,
  quote,
  readCount,
  readError,
  type StreamFacts,
  type StreamReader,
  textOf,
  type ToolCallFragment,
  writeJson,
} from "../model/stream-reader.ts";
import { listOf, readFinish, readUsage } from "./read-response.ts";
import { SummaryReader } from "./summary-reader.ts";

/** A message or a call. Servers name its events by item id, by output index, or by both. */
interface Slot {
  /** Place among the calls. */
  readonly index: number;
  readonly isCall: boolean;
  itemId: string | undefined;
  readonly outputIndex: number | undefined;
  callId: string | undefined;
  /** Text that was read so far. Unit: UTF-16 code units. */
  chars: number;
  isDone: boolean;
  /** The provider says that the call is whole. */
  isComplete: boolean;
  /** The terminal event has listed it. */
  isListed: boolean;
}

/** Far more messages and calls than an answer has. */
const MAX_SLOTS = 512;

/** Creates the reader of one Responses stream. */
export function createResponseReader(): StreamReader {
  return new ResponseReader();
}

/**
 * Reads the events of one Responses stream. Only a terminal event ends it. Items other than
 * messages and function calls are the provider's own work: neither text nor calls.
 */
class ResponseReader implements StreamReader {
  readonly endsWithDone = false;
  readonly #slots: Slot[] = [];
  readonly #items: { readonly at: number | undefined; readonly item: JsonObject }[] = [];
  readonly #room = new OpaqueRoom();
  readonly #summaries = new SummaryReader();
  #calls = 0;
  #hasRefused = false;

  readEvent(event: JsonObject): StreamFacts {
    switch (textOf(event["type"])) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#addText(event);
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
    return this.#slots.length > MAX_SLOTS ? "too many output items" : undefined;
  }

  readDocument(document: JsonObject): StreamFacts | undefined {
    if (document["object"] === "response") return this.#end(document, "");
    const error = readError(document);
    return error === undefined ? undefined : { error };
  }

  opaqueItems(): readonly JsonObject[] | undefined {
    const indices = new Set(this.#items.map(({ at }) => at));
    const isOrdered = indices.size === this.#items.length && !indices.has(undefined);
    const ordered = isOrdered
      ? this.#items.toSorted((a, b) => Number(a.at) - Number(b.at))
      : this.#items;
    const items = ordered.map(({ item }) => item).filter(isResolvable);
    const isWhole = items.filter(({ type }) => type === "function_call").length === this.#calls;
    return this.#room.isOpen && isWhole && items.some(isNeeded) ? items : undefined;
  }

  #addText(event: JsonObject): StreamFacts {
    const text = textOf(event["delta"]);
    this.#hasRefused ||= event["type"] === "response.refusal.delta";
    (this.#find(event, false) ?? this.#open(event, {}, false)).chars += text.length;
    return { text, error: this.#tooMany };
  }

  #addItem(event: JsonObject): StreamFacts {
    const item = objectOf(event["item"]) ?? {};
    const type = item["type"];
    if (type === "custom_tool_call") return { error: describeCustom(item) };
    if (type !== "message" && type !== "function_call") return {};
    const slot = this.#open(event, item, type === "function_call");
    return { error: this.#tooMany, ...(slot.isCall && callFacts(slot, item, { arguments: "" })) };
  }

  #addArguments(event: JsonObject, isWhole = false): StreamFacts {
    const text = textOf(event[isWhole ? "arguments" : "delta"]);
    const slot = this.#find(event, true) ?? this.#open(event, {}, true);
    return { fragments: [{ index: slot.index, arguments: text, isWhole }] };
  }

  /** Reads a whole item. What deltas lacked is added; a call's arguments are replaced. */
  #finishItem(event: JsonObject): StreamFacts {
    const item = objectOf(event["item"]) ?? {};
    this.#keep(item, readCount(event["output_index"]));
    const summary = this.#summaries.readItem(item);
    return { summary, ...this.#readItem(item, (isCall) => this.#find(event, isCall, item), event) };
  }

  #readItem(
    item: JsonObject,
    find: (isCall: boolean) => Slot | undefined,
    event: JsonObject = {},
  ): StreamFacts {
    const type = item["type"];
    if (type === "custom_tool_call") return { error: describeCustom(item) };
    if (type !== "message" && type !== "function_call") return {};
    const isCall = type === "function_call";
    const slot = find(isCall) ?? this.#open(event, item, isCall);
    slot.isDone = true;
    slot.isComplete = item["status"] === "completed";
    slot.itemId ??= nonBlank(item["id"]);
    slot.callId = nonBlank(item["call_id"]) ?? slot.callId;
    // Also a call that was cut off gets this event. Only its status tells.
    if (isCall) return callFacts(slot, item, { arguments: wholeArguments(item), isWhole: true });
    const text = this.#messageText(item);
    const rest = text.slice(slot.chars);
    slot.chars = Math.max(slot.chars, text.length);
    return { text: rest, error: this.#tooMany };
  }

  #messageText(message: JsonObject): string {
    let text = "";
    for (const part of listOf(message["content"])) {
      this.#hasRefused ||= part["type"] === "refusal";
      if (part["type"] === "output_text") text += textOf(part["text"]);
      if (part["type"] === "refusal") text += textOf(part["refusal"]);
    }
    return text;
  }

  /** Reads the terminal event. Some servers list the output only here, others not here. */
  #end(response: JsonObject, type: string): StreamFacts {
    const output = listOf(response["output"]);
    if (this.#items.length === 0) for (const item of output) this.#keep(item, undefined);
    if (output.length > MAX_SLOTS) return { error: "too many output items" };
    const listed = output.map((item) => this.#readItem(item, (isCall) => this.#list(item, isCall)));
    const finish = readFinish(response, type);
    const isCut = finish !== "stop";
    const cut = this.#slots.filter((slot) => slot.isCall && !slot.isComplete);
    return {
      error:
        listed.find(({ error }) => error !== undefined)?.error ??
        (finish === "error" ? describeFailure(response, type) : undefined),
      summary: this.#summaries.readOutput(output),
      text: listed.map(({ text = "" }) => text).join(""),
      fragments: [
        ...listed.flatMap(({ fragments = [] }) => fragments),
        // In a cut answer only a call that the provider calls complete is whole.
        ...(isCut ? cut.map(({ index }) => ({ index, arguments: undefined })) : []),
      ],
      usage: readUsage(response["usage"]),
      finish: finish === "stop" && this.#hasRefused ? "refusal" : finish,
      isEnd: true,
    };
  }

  /** Finds the slot of an event: by item id, by call id, then by output index. */
  #find(event: JsonObject, isCall: boolean, item: JsonObject = {}): Slot | undefined {
    const open = this.#slots.filter((slot) => slot.isCall === isCall && !slot.isDone);
    const itemId = nonBlank(event["item_id"]) ?? nonBlank(item["id"]);
    const callId = nonBlank(item["call_id"]);
    const outputIndex = readCount(event["output_index"]);
    return (
      (itemId === undefined ? undefined : open.findLast((slot) => slot.itemId === itemId)) ??
      (callId === undefined ? undefined : open.find((slot) => slot.callId === callId)) ??
      (outputIndex === undefined && itemId !== undefined
        ? undefined
        : open.findLast((slot) => slot.outputIndex === outputIndex))
    );
  }

  /** Finds the slot of an item that the terminal event lists, each slot once. */
  #list(item: JsonObject, isCall: boolean): Slot | undefined {
    const left = this.#slots.filter((slot) => slot.isCall === isCall && !slot.isListed);
    const slot =
      left.find(({ callId }) => isCall && callId !== undefined && callId === item["call_id"]) ??
      left.find(({ itemId }) => itemId !== undefined && itemId === item["id"]) ??
      (isCall ? undefined : left[0]);
    if (slot) slot.isListed = true;
    return slot;
  }

  #open(event: JsonObject, item: JsonObject, isCall: boolean): Slot {
    const slot: Slot = {
      index: isCall ? this.#calls++ : -1,
      isCall,
      itemId: nonBlank(item["id"]) ?? nonBlank(event["item_id"]),
      outputIndex: readCount(event["output_index"]),
      callId: nonBlank(item["call_id"]),
      chars: 0,
      isDone: false,
      isComplete: false,
      isListed: false,
    };
    this.#slots.push(slot);
    return slot;
  }

  #keep(item: JsonObject, at: number | undefined): void {
    if (this.#room.takeValue(item)) this.#items.push({ at, item });
  }
}

function callFacts(
  { index }: Slot,
  item: JsonObject,
  content: Pick<ToolCallFragment, "arguments" | "isWhole">,
): StreamFacts {
  const [id, name] = [nonBlank(item["call_id"]), nonBlank(item["name"])];
  return { fragments: [{ index, id, name, ...content }] };
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

/**
 * Tells whether the provider can read an item again. Interlock lets it store nothing, so reasoning
 * must carry its own content.
 */
function isResolvable(item: JsonObject): boolean {
  if (item["type"] !== "reasoning") return true;
  return nonBlank(item["encrypted_content"]) !== undefined || listOf(item["content"]).length > 0;
}

/** Tells whether our own message lacks something of the item. */
function isNeeded(item: JsonObject): boolean {
  const { type } = item;
  return (type !== "message" && type !== "function_call") || nonBlank(item["phase"]) !== undefined;
}
