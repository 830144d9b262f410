import { mapLeaves } from "../json/map-leaves.ts";
import { leavesOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { createReplacer, type TextPieces } from "./replace-texts.ts";
import { lazily, lazyPattern } from "../text/lazily.ts";

/** Replaces a masked value. Its characters mean nothing in Markdown and HTML. */
export const MASK = "•••";
/** Replaces a text that cannot be shown in part. */
export const WITHHELD_TEXT = "this text is withheld: it repeats a value that nobody may see";
/** Shorter values are parts of ordinary words and numbers, so they are not cut out of a text. */
const MIN_MASKED_CHARS = 4;
/** Longest forms that are looked for, together. Unit: UTF-16 code units. */
const MAX_FORM_CHARS = 128 * 1024;

/** Masks values in a JSON value. Contract: linear; never throws for JSON; keeps the shape. */
export type MaskValues = <Value extends JsonValue>(value: Value) => Value;

/**
 * Makes a function that masks values in texts, numbers and names of members: as they are, as JSON
 * escapes them, percent-encoded, and in base64 or base64url at any alignment.
 * A text that holds a value of less than four characters as a word of its own is withheld whole.
 * So is every text when the values are too long to be looked for.
 */
export function maskValues(values: readonly string[]): MaskValues {
  return createMask(values).value;
}

/** What masks the same values in whole JSON values and in texts that arrive in pieces. */
export interface Mask {
  readonly value: MaskValues;
  /** Starts a text. Contract: its pieces together are the text that `value` answers. */
  readonly pieces: () => TextPieces;
}

/** Makes a mask. Contract: `pieces` is for values of four characters or more. */
export function createMask(values: readonly string[]): Mask {
  const compiled = lazily(() => compile(new Set(values)));
  const maskLeaf = (leaf: string | number): string | number => {
    const shown = compiled().text(String(leaf));
    return shown === String(leaf) ? leaf : shown;
  };
  return {
    value: (value) => (values.length === 0 ? value : mapLeaves(value, maskLeaf)),
    pieces: () => compiled().pieces(),
  };
}

/** Lists the texts and numbers of arguments that redaction withholds. */
export function withheldValues(args: JsonObject, shown: JsonObject): readonly string[] {
  const visible = new Set(wordsOf(shown));
  return wordsOf(args).filter((word) => !visible.has(word));
}

function wordsOf(value: JsonObject): readonly string[] {
  const leaves = [...leavesOf(value)].map(({ value: leaf }) => leaf);
  return leaves
    .filter((leaf) => typeof leaf === "string" || typeof leaf === "number")
    .map((leaf) => String(leaf).trim());
}

interface Compiled {
  text(text: string): string;
  pieces(): TextPieces;
}

function compile(values: ReadonlySet<string>): Compiled {
  const words = new Set<string>();
  const forms = new Set<string>();
  let chars = 0;
  for (const value of values) {
    if (value.length < MIN_MASKED_CHARS) {
      words.add(value);
      continue;
    }
    for (const form of formsOf(value)) {
      if (form.length < MIN_MASKED_CHARS || forms.has(form)) continue;
      forms.add(form);
      chars += form.length;
    }
    if (chars > MAX_FORM_CHARS) return WITHHOLDING;
  }
  const pieces = createReplacer([...forms], MASK);
  return {
    text(text) {
      if (holdsWord(text, words)) return WITHHELD_TEXT;
      const whole = pieces();
      return whole.add(text) + whole.rest();
    },
    pieces,
  };
}

const WITHHOLDING: Compiled = {
  text: () => WITHHELD_TEXT,
  pieces: () => ({ add: () => "", rest: () => WITHHELD_TEXT }),
};

/** The forms in which a service may repeat a value. */
function* formsOf(value: string): Generator<string> {
  yield value;
  const json = JSON.stringify(value).slice(1, -1);
  yield json;
  yield json.replaceAll("/", "\\/");
  const percent = encodeURIComponent(value.toWellFormed());
  const strict = percent.replaceAll(/[!'()*]/g, (char) => `%${hexOf(char)}`);
  for (const form of [percent, strict]) {
    for (const spaced of [form, form.replaceAll("%20", "+")]) {
      yield spaced;
      yield spaced.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
    }
  }
  for (const form of base64FormsOf(value)) {
    yield form;
    yield form.replaceAll("+", "-").replaceAll("/", "_");
  }
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).toUpperCase();
}

/**
 * The characters of base64 that the value alone decides, after no, one or two bytes of other text.
 * A character that the value shares with its neighbours stays: it tells a few bits.
 */
function* base64FormsOf(value: string): Generator<string> {
  for (let before = 0; before < 3; before++) {
    const bytes = new TextEncoder().encode("\0".repeat(before) + value);
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    yield text.slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  }
}

const partOfWord = lazyPattern(String.raw`[\p{L}\p{N}]`, "u");

/** Tells whether a text holds one of some short words, with no letter or digit next to it. */
function holdsWord(text: string, words: ReadonlySet<string>): boolean {
  if (words.size === 0) return false;
  const isEdge = (at: number): boolean => !partOfWord().test(text.charAt(at));
  for (let from = 0; from < text.length; from++) {
    if (!isEdge(from - 1)) continue;
    for (let to = from + 1; to < from + MIN_MASKED_CHARS; to++) {
      if (isEdge(to) && words.has(text.slice(from, to))) return true;
    }
  }
  return false;
}
