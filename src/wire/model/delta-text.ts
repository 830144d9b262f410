import { isHighSurrogate } from "../../protocol/text/encoding.ts";
import { utf8Length } from "./utf8-length.ts";

/**
 * Passes on the deltas of one text, up to `maxBytes` bytes of UTF-8.
 * Contract: linear; no delta that it answers cuts a character.
 */
export class DeltaText {
  readonly #maxBytes: number;
  #bytes = 0;
  /** First half of a surrogate pair whose second half is missing: UTF-8 cannot encode it alone. */
  #halfPair = "";

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Takes a delta and answers what can be passed on; undefined once the text is too long. */
  take(delta: string): string | undefined {
    this.#bytes += utf8Length(delta);
    if (this.#bytes > this.#maxBytes) return undefined;
    const text = this.#halfPair + delta;
    const cut = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
    this.#halfPair = text.slice(cut);
    return text.slice(0, cut);
  }

  /** Takes what is left at the end. */
  takeRest(): string {
    const rest = this.#halfPair;
    this.#halfPair = "";
    return rest;
  }
}
