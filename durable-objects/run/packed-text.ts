import { deflateRawSync, inflateRawSync } from "node:zlib";
import { utf8Bytes } from "../../src/protocol/text/encoding.ts";

/** Shorter text stays as it is. Unit: UTF-16 code units. */
const MIN_CHARS = 512;
/** The least effort: the fastest level, with 8 KiB of history instead of 32 KiB. */
const EFFORT = { level: 1, windowBits: 13, memLevel: 5 };

/** Text as a column stores it: short text plainly, longer text compressed. */
export type PackedText = string | ArrayBuffer;

/**
 * Compresses text for storage. JSON of events and records becomes three to four times smaller, so
 * most commits write one page. Also tells how many bytes that saved.
 */
export function packText(text: string): { readonly packed: PackedText; readonly saved: number } {
  if (text.length < MIN_CHARS) return { packed: text, saved: 0 };
  const deflated = deflateRawSync(text, EFFORT);
  const { buffer, byteOffset, byteLength } = deflated;
  const packed = buffer.slice(byteOffset, byteOffset + byteLength);
  return { packed, saved: Math.max(0, utf8Bytes(text) - byteLength) };
}

/** Reads packed text. */
export function unpackText(packed: PackedText): string {
  return typeof packed === "string" ? packed : inflateRawSync(packed).toString("utf8");
}
