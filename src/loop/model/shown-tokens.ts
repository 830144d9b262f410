import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ModelAnswer } from "../../protocol/model/event.ts";
import type { Usage } from "../../protocol/model/usage.ts";

/** Longest token of known vocabularies: 128 spaces in OpenAI's o200k_base. Unit: bytes of UTF-8. */
const LONGEST_TOKEN_BYTES = 128;

/**
 * Finds the fewest tokens that a request can have, from the text that it shows.
 * Ownership: one per incarnation. Contract: reads each message once.
 */
export class ShownTokens {
  readonly #known = new WeakMap<TranscriptMessage, number>();

  of(messages: readonly TranscriptMessage[]): number {
    let chars = 0;
    for (const message of messages) chars += this.#charsOf(message);
    return toTokens(chars);
  }

  #charsOf(message: TranscriptMessage): number {
    const chars = this.#known.get(message) ?? countChars(message);
    this.#known.set(message, chars);
    return chars;
  }
}

/**
 * Tells whether a report of usage can be true: it counts a request, and no fewer tokens than the
 * texts of the request and of the answer have.
 */
export function isCredible(
  usage: Usage | undefined,
  { inputTokens, text, toolCalls }: { readonly inputTokens: number } & Partial<ModelAnswer>,
): usage is Usage {
  if (!usage || usage.inputTokens < Math.max(1, inputTokens)) return false;
  const calls = toolCalls?.reduce((sum, call) => sum + call.argumentsText.length, 0) ?? 0;
  return usage.outputTokens >= toTokens((text?.length ?? 0) + calls);
}

/** A character has at least one byte. */
function toTokens(chars: number): number {
  return Math.ceil(chars / LONGEST_TOKEN_BYTES);
}

function countChars(message: TranscriptMessage): number {
  switch (message.role) {
    case "system":
    case "user":
      return message.text.length;
    case "assistant":
      return message.toolCalls.reduce(
        (sum, call) => sum + call.argumentsText.length,
        message.text.length,
      );
    case "tool":
      return JSON.stringify(message.result).length;
  }
}
