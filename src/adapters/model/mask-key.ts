import type { ModelAnswer, ModelEvent } from "../../protocol/model/event.ts";
import { HIDDEN, hideValues, type HideValues } from "../../protocol/secrets/mask-values.ts";

/** Shorter keys are placeholders such as `none`, not secrets. */
const MIN_SECRET_CHARS = 8;
const MAX_DETAIL_CHARS = 2_000;

/** Hides the key in the next events of one model call. Contract: may answer an empty batch. */
export type HideKey = (batch: readonly ModelEvent[]) => readonly ModelEvent[];

/**
 * Makes a function that hides a provider's key in everything that the provider sends.
 * Threat: a gateway that repeats the headers of a request, in its errors or in a model's answer.
 * Text that may be the beginning of the key waits for the next text, or for the answer.
 * Contract: linear. An error is cut at any form of the key that hideValues finds. Limit: in texts
 * and calls of the model only the key as it was sent is found, and in the arguments of calls also
 * with the escapes of JSON.
 */
export function createKeyHider(apiKey: string): HideKey {
  if (apiKey.length < MIN_SECRET_CHARS) return (batch) => batch.map(shortenDetail);
  const hideForms = hideValues([apiKey]);
  const texts = { text_delta: new HiddenKeyText(apiKey), summary_delta: new HiddenKeyText(apiKey) };
  const hide = (event: ModelEvent): readonly ModelEvent[] => {
    if (event.type !== "answer") return deltaOf(event.type, texts[event.type].add(event.text));
    return [
      ...deltaOf("summary_delta", texts.summary_delta.rest()),
      ...deltaOf("text_delta", texts.text_delta.rest()),
      shortenDetail({ type: "answer", answer: hideIn(event.answer, apiKey, hideForms) }),
    ];
  };
  return (batch) => batch.flatMap(hide);
}

function deltaOf(type: "text_delta" | "summary_delta", text: string): readonly ModelEvent[] {
  return text === "" ? [] : [{ type, text }];
}

function hideIn(answer: ModelAnswer, apiKey: string, hideForms: HideValues): ModelAnswer {
  const hide = (text: string): string => text.replaceAll(apiKey, HIDDEN);
  const { text, toolCalls, opaque, failure, ...facts } = answer;
  // What a provider must see again stays as it is, or is dropped.
  const isClean = opaque && !JSON.stringify(opaque.items).includes(apiKey);
  return {
    ...facts,
    text: hide(text),
    toolCalls: toolCalls.map(({ toolCallId, name, argumentsText, truncated }) => ({
      toolCallId: hide(toolCallId) as typeof toolCallId,
      name: hide(name),
      argumentsText: hideArguments(argumentsText, apiKey),
      truncated,
    })),
    ...(isClean && { opaque }),
    ...(failure && { failure: { ...failure, detail: cutAtKey(failure.detail, hideForms) } }),
  };
}

/** Hides the key in arguments. Threat: escapes that are gone once the arguments are parsed. */
function hideArguments(text: string, apiKey: string): string {
  const hidden = text.replaceAll(apiKey, HIDDEN);
  if (!hidden.includes("\\")) return hidden;
  try {
    // JSON escapes no character of a key, so the key stands there as it was sent.
    const plain = JSON.stringify(JSON.parse(hidden));
    return plain.includes(apiKey) ? plain.replaceAll(apiKey, HIDDEN) : hidden;
  } catch {
    return hidden;
  }
}

function cutAtKey(detail: string, hideForms: HideValues): string {
  const hidden = hideForms(detail);
  return hidden === detail ? detail : `${hidden.split(HIDDEN, 1).join("")}[key removed]`;
}

function shortenDetail(event: ModelEvent): ModelEvent {
  if (event.type !== "answer" || !event.answer.failure) return event;
  const { failure } = event.answer;
  const detail = failure.detail.slice(0, MAX_DETAIL_CHARS);
  return { ...event, answer: { ...event.answer, failure: { ...failure, detail } } };
}

/**
 * Replaces a key in a text that arrives in pieces (Knuth, Morris and Pratt, 1977). The text that it
 * holds back is always the beginning of the key.
 */
class HiddenKeyText {
  readonly #key: string;
  /** For each length of a held text: the length of its longest end that also begins the key. */
  readonly #fallbacks: readonly number[];
  #held = 0;

  constructor(key: string) {
    this.#key = key;
    const fallbacks = [0, 0];
    for (let at = 1, length = 0; at < key.length; at++) {
      while (length > 0 && key[at] !== key[length]) length = fallbacks[length] ?? 0;
      if (key[at] === key[length]) length++;
      fallbacks.push(length);
    }
    this.#fallbacks = fallbacks;
  }

  /** Adds a piece; answers what may be shown. */
  add(piece: string): string {
    const key = this.#key;
    let shown = "";
    for (let at = 0; at < piece.length; at++) {
      if (this.#held === 0) {
        const next = piece.indexOf(key.charAt(0), at);
        if (next === -1) return shown + piece.slice(at);
        shown += piece.slice(at, next);
        at = next;
      }
      while (this.#held > 0 && piece[at] !== key[this.#held]) {
        const shorter = this.#fallbacks[this.#held] ?? 0;
        shown += key.slice(0, this.#held - shorter);
        this.#held = shorter;
      }
      if (piece[at] === key[this.#held]) this.#held++;
      else shown += piece.charAt(at);
      if (this.#held === key.length) {
        shown += HIDDEN;
        this.#held = 0;
      }
    }
    return shown;
  }

  /** Answers what is still held back. */
  rest(): string {
    const shown = this.#key.slice(0, this.#held);
    this.#held = 0;
    return shown;
  }
}
