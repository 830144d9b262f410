import { deflateRawSync, inflateRawSync } from "node:zlib";
import { utf8Bytes } from "../src/protocol/text/encoding.ts";

/** Shorter text stays as it is. Unit: UTF-16 code units. */
const MIN_CHARS = { alone: 512, withDictionary: 64 };
/** The least effort: the fastest level, with 8 KiB of history instead of 32 KiB. */
const EFFORT = { level: 1, windowBits: 13, memLevel: 5 };

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
  const deflated = deflateRawSync(text, { ...EFFORT, ...(dictionary && { dictionary }) });
  const { buffer, byteOffset, byteLength } = deflated;
  const packed = buffer.slice(byteOffset, byteOffset + byteLength);
  return { packed, saved: Math.max(0, utf8Bytes(text) - byteLength) };
}

/** Reads packed text. Contract: `dictionary` is the one that the text was packed with. */
export function unpackText(packed: PackedText, dictionary?: Dictionary): string {
  if (typeof packed === "string") return packed;
  return inflateRawSync(packed, dictionary && { dictionary }).toString("utf8");
}
