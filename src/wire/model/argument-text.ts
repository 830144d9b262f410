import { utf8Length } from "./utf8-length.ts";

/**
 * Collects the argument fragments of one tool call, up to `maxBytes` bytes of UTF-8.
 * Contract: time and memory are linear in the text; never parses.
 */
export class ArgumentText {
  readonly #maxBytes: number;
  #closing = new ClosingBrace();
  #fragments: string[] = [];
  #chars = 0;
  #bytes = 0;
  #scanned = 0;
  #blank = true;
  #overflowed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True once the text passed the limit; the text is dropped then. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** True while the text is empty or only white space. */
  get blank(): boolean {
    return this.#blank && !this.#overflowed;
  }

  /** Drops the text as if it had passed the limit, for a fragment that cannot be read. */
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

  /** Replaces the text by the whole text, unless that is blank. */
  replace(text: string): void {
    if (text.trim() === "" || this.#overflowed) return;
    this.#closing = new ClosingBrace();
    this.#fragments = [];
    this.#chars = 0;
    this.#bytes = 0;
    this.#scanned = 0;
    this.append(text);
  }

  /** True when the text is one whole object and the fragment repeats that object. */
  repeats(fragment: string): boolean {
    // The cheap test comes first, so all comparisons together stay linear in the input.
    return fragment.length === this.#chars && this.isComplete() && this.toString() === fragment;
  }

  /** True when the first object is closed and only white space follows. */
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

/** Scans JSON text, fragment by fragment, for the brace that closes its first object. */
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
