import { completeTail } from "./complete-tail.ts";
import type { Block, Definitions, MarkdownParser } from "./create-parser.ts";
import type { MarkdownElement } from "./nodes.ts";

/** What a piece of text changed. */
export interface Reading {
  /** Blocks that end the text so far and never change again. */
  readonly final: readonly MarkdownElement[];
  /** Blocks after them, which the next piece may change. */
  readonly tail: readonly MarkdownElement[];
}

/**
 * Largest tail in characters. The tail is read again for each piece; final blocks are not. A block
 * of parts, which takes more time to read, is taken part by part.
 */
const MAX_TAIL_CHARS = 8 * 1024;
const MAX_PARTS_CHARS = 4 * 1024;

/**
 * Reads Markdown that arrives in pieces. Contract: the work for a piece is bounded by its own
 * length and that of the tail, so a text of any length is read in linear time.
 */
export class MarkdownReader {
  readonly #parser: MarkdownParser;
  /** Link targets defined by final blocks. */
  readonly #definitions: Definitions = Object.create(null) as Definitions;
  /** The text behind the final blocks. */
  #tail = "";
  /** The kind of block that the tail goes on with. */
  #continued: MarkdownElement["name"] | undefined;

  constructor(parser: MarkdownParser) {
    this.#parser = parser;
  }

  append(piece: string): Reading {
    const final: MarkdownElement[] = [];
    let blocks: readonly Block[] = [];
    for (let at = 0; at < piece.length; at += MAX_TAIL_CHARS) {
      this.#tail = joinLines(this.#tail, piece.slice(at, at + MAX_TAIL_CHARS));
      blocks = this.#read();
      const last = blocks.at(-1);
      if (last && last.line > 0) {
        final.push(...this.#take(offsetOf(this.#tail, last.line)));
        blocks = this.#read();
      }
      while (this.#tail.length > limitOf(blocks.at(-1))) {
        final.push(...this.#cut(blocks.at(-1)));
        blocks = this.#read();
      }
    }
    return { final, tail: this.#mark(blocks.slice(-1).map(({ element }) => element)) };
  }

  /** Reads the rest of the text as it stands. */
  end(): Reading {
    return { final: this.#take(this.#tail.length), tail: [] };
  }

  /** Reads the tail without learning definitions of links, which may not be whole yet. */
  #read(): readonly Block[] {
    const definitions = Object.create(this.#definitions) as Definitions;
    return this.#parser.parse(completeTail(this.#tail), definitions);
  }

  #take(length: number): readonly MarkdownElement[] {
    const blocks = this.#parser.parse(this.#tail.slice(0, length), this.#definitions);
    this.#tail = this.#tail.slice(length);
    const taken = this.#mark(blocks.map(({ element }) => element));
    if (taken.length > 0) this.#continued = undefined;
    return taken;
  }

  /** Takes a first piece of the block that the tail consists of. */
  #cut(block: Block | undefined): readonly MarkdownElement[] {
    const repeated = this.#tail.slice(0, repeatedLength(block?.element, this.#tail));
    const part = offsetOf(this.#tail, block?.partLines.at(-1) ?? 0);
    // A block of one large part has no place where it can be cut well.
    const isParted = part > 2 * repeated.length;
    const taken = this.#take(isParted ? part : findCut(this.#tail));
    if (!isParted && block?.element.name !== "pre") return taken;
    this.#tail = repeated + this.#tail;
    this.#continued = block?.element.name;
    return taken;
  }

  #mark(elements: readonly MarkdownElement[]): readonly MarkdownElement[] {
    const [first, ...rest] = elements;
    if (!first || first.name !== this.#continued) return elements;
    return [{ ...first, continues: true }, ...rest];
  }
}

function limitOf(block: Block | undefined): number {
  return block && block.partLines.length > 1 ? MAX_PARTS_CHARS : MAX_TAIL_CHARS;
}

/** A longer first line is not worth to be repeated. Unit: characters. */
const MAX_REPEATED_CHARS = 512;

/** The rest of a code block or table begins with the same lines as the whole. */
function repeatedLength(element: MarkdownElement | undefined, text: string): number {
  const isFence = element?.name === "pre" && /^[`~]/.test(text);
  const lines = element?.name === "table" ? 2 : Number(isFence);
  const length = offsetOf(text, lines);
  return length > MAX_REPEATED_CHARS ? 0 : length;
}

/** Gives every line the same end. A return at the end may be half of one. */
function joinLines(text: string, piece: string): string {
  return (text + piece).replace(/\r\n|\r(?!$)/g, "\n");
}

function offsetOf(text: string, line: number): number {
  let offset = 0;
  for (let count = 0; count < line; count += 1) {
    const end = text.indexOf("\n", offset);
    if (end === -1) return text.length;
    offset = end + 1;
  }
  return offset;
}

/** Returns where a long text can be cut: behind a line, else behind a word, else in between. */
function findCut(text: string): number {
  const end = Math.min(text.length, MAX_TAIL_CHARS);
  for (const mark of ["\n", " "]) {
    const at = text.lastIndexOf(mark, end - 1) + 1;
    if (at > end / 2) return at;
  }
  const isPair = text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) <= 0xdbff;
  return isPair ? end - 1 : end;
}
