import type { JsonValue } from "../json/value.ts";
import { lazyPattern } from "./lazily.ts";

/** Most marks beside a word. */
const MAX_MARKS = 8;
/** Shortest text that is not a number, and longest text. */
const MIN_CHARS = 4;
const MAX_CHARS = 256;
/** Newest characters of the texts that are searched. */
const MAX_SEARCHED_CHARS = 1024 * 1024;

/** Some countries write a thousand as `1.000`, so three digits after a point do not count. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.(?!\d{3}$)\d+)?$/;
/** Brackets, quotes and what begins a sentence. */
const OPENS = String.raw`("'[{<\u2018\u201c\u00ab\u2039\u00bf\u00a1\p{Sc}`;
const OPENING = lazyPattern(`[${OPENS}]`, "u");
const CLOSING = lazyPattern(String.raw`[)"'\]}>\u2019\u201d\u00bb\u203a.,;:!?\u2026\p{Sc}]`, "u");

/**
 * Tells whether a value stands in one of the texts as a whole word: a text of 4 to 256
 * characters, or a plain decimal. Spaces or the ends of the text surround it; brackets, quotes,
 * currency signs and the marks at the end of a sentence may stand in between. Letters are compared
 * exactly.
 * Threat: `ann@x.example` is a part of `joann@x.example` and of `ann@x.example.evil`.
 * Contract: pure; linear in the texts. Only the newest million characters count.
 */
export function standsIn(value: JsonValue, texts: readonly string[]): boolean {
  if (typeof value === "number") return isAnyIn(texts, (text) => hasNumber(text, value));
  if (typeof value !== "string" || value.trim() !== value || value.length > MAX_CHARS) return false;
  if (value.length < MIN_CHARS && !DECIMAL.test(value)) return false;
  return isAnyIn(texts, (text) => hasWord(text, value));
}

function isAnyIn(texts: readonly string[], has: (text: string) => boolean): boolean {
  let left = MAX_SEARCHED_CHARS;
  for (const text of texts.toReversed()) {
    left -= text.length;
    if (left < 0) return false;
    if (has(text)) return true;
  }
  return false;
}

/** `12.50` is 12.5; `1,000` and `1e3` are no plain decimals. */
function hasNumber(text: string, value: number): boolean {
  for (const { 0: written, index } of text.matchAll(NUMBERS)) {
    const isPlain = DECIMAL.test(written) && Number(written) === value;
    if (isPlain && isEdge(text, index, -1) && isEdge(text, index + written.length, 1)) return true;
  }
  return false;
}

const NUMBERS = /-?\d+(?:\.\d+)?/g;

function hasWord(text: string, word: string): boolean {
  let at = text.indexOf(word);
  while (at !== -1) {
    if (isEdge(text, at, -1) && isEdge(text, at + word.length, 1)) return true;
    // A whole word begins only after these, so no part of the text is compared again and again.
    const pattern = BEFORE();
    pattern.lastIndex = at;
    const before = pattern.exec(text);
    at = before ? text.indexOf(word, before.index + 1) : -1;
  }
  return false;
}

const BEFORE = lazyPattern(String.raw`[\s${OPENS}]`, "gu");

/** Looks from an index to the left or to the right, over marks, for a space or the end. */
function isEdge(text: string, from: number, step: -1 | 1): boolean {
  const marks = (step === -1 ? OPENING : CLOSING)();
  for (let seen = 0; seen <= MAX_MARKS; seen++) {
    const char = text[step === -1 ? from - 1 - seen : from + seen];
    if (char === undefined || /\s/.test(char)) return true;
    if (!marks.test(char)) return false;
  }
  return false;
}
