import type { JsonObject } from "../../protocol/json/value.ts";
import { textOf } from "../model/event-decoder.ts";
import { findSlot, type ItemKeys, type Slot } from "./output-slots.ts";
import { listOf } from "./read-response.ts";

interface Message extends Slot {
  text: string;
  /** Length of the text that the provider repeated since the message was done. */
  repeated: number;
  /** The terminal event has listed it. */
  isListed: boolean;
}

/**
 * Reads the texts of an answer's messages. They arrive in deltas, in their item, in the terminal
 * event, or in several of these, and some servers repeat them.
 * Contract: each method answers the text that is new; linear.
 */
export class MessageTexts {
  readonly #messages: Message[] = [];
  #hasRefused = false;

  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  get count(): number {
    return this.#messages.length;
  }

  open(keys: ItemKeys): void {
    const known = findSlot(this.#messages, keys);
    if (known?.isDone) known.repeated = 0;
    else this.#add(keys, "");
  }

  readDelta(event: JsonObject, keys: ItemKeys): string {
    const text = textOf(event["delta"]);
    this.#hasRefused ||= event["type"] === "response.refusal.delta";
    const open = this.#messages.filter(({ isDone }) => !isDone);
    const message = findSlot(open, keys) ?? findSlot(this.#messages, keys);
    if (!message) return this.#add(keys, text);
    if (!message.isDone) {
      message.text += text;
      return text;
    }
    const at = message.repeated;
    message.repeated += text.length;
    if (message.text.startsWith(text, at)) return "";
    // It is another message under the keys of the former one.
    message.repeated = 0;
    return this.#add(keys, message.text.slice(0, at) + text);
  }

  readItem(item: JsonObject, keys: ItemKeys): string {
    const text = this.#textIn(item);
    const open = this.#messages.filter(({ isDone }) => !isDone);
    const message = findSlot(open, keys);
    if (message) {
      message.isDone = true;
      return extend(message, text);
    }
    const known = findSlot(this.#messages, keys);
    const isRepeated = known && (known.text.startsWith(text) || text.startsWith(known.text));
    return isRepeated ? extend(known, text) : this.#add(keys, text, { isDone: true });
  }

  /** Reads a message that the terminal event lists. */
  readListed(item: JsonObject, keys: ItemKeys): string {
    const left = this.#messages.filter(({ isListed }) => !isListed);
    const message =
      left.find(({ keys: { itemId } }) => itemId !== undefined && itemId === keys.itemId) ??
      left[0];
    const text = this.#textIn(item);
    if (message) message.isListed = true;
    return message ? extend(message, text) : this.#add(keys, text, { isListed: true });
  }

  #add(keys: ItemKeys, text: string, state: Partial<Message> = {}): string {
    this.#messages.push({ keys, text, isDone: false, repeated: 0, isListed: false, ...state });
    return text;
  }

  #textIn(message: JsonObject): string {
    let text = "";
    for (const part of listOf(message["content"])) {
      this.#hasRefused ||= part["type"] === "refusal";
      if (part["type"] === "output_text") text += textOf(part["text"]);
      if (part["type"] === "refusal") text += textOf(part["refusal"]);
    }
    return text;
  }
}

/** Adds what the whole text has more. */
function extend(message: Message, text: string): string {
  const rest = text.slice(message.text.length);
  message.text += rest;
  return rest;
}
