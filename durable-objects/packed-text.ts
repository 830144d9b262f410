import { isHighSurrogate, utf8Bytes } from "../src/protocol/text/encoding.ts";
import { lazily } from "../src/protocol/text/lazily.ts";

/** The start of this module takes a twentieth of that of a Worker: a start does not wait for it. */
const zlib = lazily(() => process.getBuiltinModule("node:zlib"));

/**
 * Shorter text stays as it is: compressing it takes as long as storing it, and hardly ever saves a
 * page. With a dictionary the last events of a run take 50 bytes instead of 220, and the log of a
 * run of one tool call keeps its page. Unit: UTF-16 code units.
 */
const MIN_CHARS = { alone: 512, withDictionary: 200 };
/**
 * Level 5 takes a quarter longer than level 1, 5 microseconds for 4 KiB, and saves an eighth: the
 * log of a run with one write stays one page. History is 8 KiB instead of 32 KiB.
 */
const EFFORT = { level: 5, windowBits: 13, memLevel: 5 };

/**
 * Longest text of one row. Production refuses rows over 2 MB, the local platform does not.
 * Unit: UTF-16 code units of at most 3 bytes.
 */
export const MAX_ROW_CHARS = 600_000;

/** Text as a column stores it: short text plainly, longer text compressed. */
export type PackedText = string | ArrayBuffer;

/** Earlier text that both sides know, so that what repeats it takes little room. */
export type Dictionary = Uint8Array | undefined;

/**
 * Compresses text for storage. JSON of events and records becomes three to four times smaller, with
 * a dictionary of the same kind ten times, so most commits write one page. Also tells how many
 * bytes that saved.
 */
export function packText(
  text: string,
  dictionary?: Dictionary,
): { readonly packed: PackedText; readonly saved: number } {
  const minChars = dictionary ? MIN_CHARS.withDictionary : MIN_CHARS.alone;
  if (text.length < minChars) return { packed: text, saved: 0 };
  const deflated = zlib().deflateRawSync(text, { ...EFFORT, ...(dictionary && { dictionary }) });
  const { buffer, byteOffset, byteLength } = deflated;
  const packed = buffer.slice(byteOffset, byteOffset + byteLength);
  return { packed, saved: Math.max(0, utf8Bytes(text) - byteLength) };
}

/** Reads packed text. Contract: `dictionary` is the one that the text was packed with. */
export function unpackText(packed: PackedText, dictionary?: Dictionary): string {
  if (typeof packed === "string") return packed;
  return zlib()
    .inflateRawSync(packed, dictionary && { dictionary })
    .toString("utf8");
}

/** Cuts text into pieces of one row each, never within a character. */
export function splitText(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_ROW_CHARS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
