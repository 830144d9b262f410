import { utf8Length } from "./utf8-length.ts";

/**
 * Collects the argument fragments of one tool call, up to a number of bytes.
 * Contract: linear in the text it is given, in time and in memory; never parses.
 */
export class ArgumentText {
  readonly #maxBytes: number;
  readonly #closing = new ClosingBrace();
  #fragments: string[] = [];
  #chars = 0;
  #bytes = 0;
  #scanned = 0;
  #blank = true;
  #overflowed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True once the limit was passed; the text is gone then. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  get blank(): boolean {
    return this.#blank && !this.#overflowed;
  }

  /** Drops everything, as if the limit had been passed: what came cannot be trusted as a whole. */
  overflow(): void {
    this.#overflowed = true;
    this.#fragments = [];
  }

  append(fragment: string): void {
    if (fragment === "" || this.#overflowed || this.repeats(fragment)) return;
    this.#bytes += utf8Length(fragment);
    if (this.#bytes > this.#maxBytes) {
      this.overflow();
      return;
    }
    this.#fragments.push(fragment);
    this.#chars += fragment.length;
    this.#blank &&= fragment.trim() === "";
  }

  /** Tells whether the arguments are one whole object and the fragment is that object once more. */
  repeats(fragment: string): boolean {
    // The cheap test comes first: it keeps the work of all comparisons linear in the input.
    return fragment.length === this.#chars && this.isComplete() && this.toString() === fragment;
  }

  /** Tells whether an opening brace has found its closing one, with nothing but space after it. */
  isComplete(): boolean {
    for (; this.#scanned < this.#fragments.length; this.#scanned++) {
      this.#closing.read(this.#fragments[this.#scanned] ?? "");
    }
    return this.#closing.found;
  }

  toString(): string {
    return this.#fragments.join("");
  }
}

/** Follows JSON text fragment by fragment up to the brace that closes its first object. */
class ClosingBrace {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #state: "before" | "inside" | "after" | "broken" = "before";

  get found(): boolean {
    return this.#state === "after";
  }

  read(text: string): void {
    for (let at = 0; at < text.length && this.#state !== "broken"; at++) this.#step(text[at] ?? "");
  }

  #step(char: string): void {
    if (this.#inString) this.#stepInString(char);
    else if (char === " " || char === "\n" || char === "\r" || char === "\t") return;
    else if (this.#state === "after" || (this.#state === "before" && char !== "{")) {
      this.#state = "broken";
    } else if (char === '"') this.#inString = true;
    else if (char === "{" || char === "[") {
      this.#state = "inside";
      this.#depth++;
    } else if ((char === "}" || char === "]") && --this.#depth === 0) this.#state = "after";
  }

  #stepInString(char: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (char === "\\") this.#escaped = true;
    else if (char === '"') this.#inString = false;
  }
}
