import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { isHighSurrogate, utf8Bytes } from "../text/encoding.ts";

/** Marks the place where text was cut. A warning tells the model the same. */
export const TRUNCATION_MARKER = "…[truncated]";
const MARKER_BYTES = utf8Bytes(TRUNCATION_MARKER);

/**
 * Shortens a result to a number of bytes of JSON in UTF-8. It cuts all long strings to one length;
 * where that is not enough, it also drops the second half of every list.
 * Contract: pure; linear except for one sort; cuts between characters. Answers undefined when the
 * result still does not fit.
 */
export function truncateResult(value: JsonObject, maxBytes: number): JsonObject | undefined {
  const sizes: number[] = [];
  measureStrings(value, sizes);
  const total = utf8Bytes(JSON.stringify(value));
  const overhead = total - sizes.reduce((sum, size) => sum + size, 0);
  if (overhead <= maxBytes) {
    const cap = fitCap(sizes, maxBytes - overhead);
    if (cap > MARKER_BYTES) return mapStrings(value, cap) as JsonObject;
  }
  const shorter = dropTails(value);
  return shorter === undefined ? undefined : truncateResult(shorter, maxBytes);
}

/** Finds the length to which longer strings are cut so that all strings fit. Unit: bytes. */
function fitCap(sizes: readonly number[], room: number): number {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = room;
  for (const [index, size] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function measureStrings(value: JsonValue, sizes: number[]): void {
  if (typeof value === "string") sizes.push(contentBytes(value));
  else if (Array.isArray(value)) for (const item of value) measureStrings(item as JsonValue, sizes);
  else if (isJsonObject(value))
    for (const item of Object.values(value)) measureStrings(item, sizes);
}

/** Counts the bytes of a string between its quotes, escapes included. */
function contentBytes(text: string): number {
  return utf8Bytes(JSON.stringify(text)) - 2;
}

function mapStrings(value: JsonValue, cap: number): JsonValue {
  if (typeof value === "string") return contentBytes(value) <= cap ? value : cut(value, cap);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapStrings(item, cap));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapStrings(item, cap)] as const),
  );
}

function cut(text: string, cap: number): string {
  let room = cap - MARKER_BYTES;
  let end = 0;
  while (end < text.length) {
    const width = isHighSurrogate(text.charCodeAt(end)) ? 2 : 1;
    room -= contentBytes(text.slice(end, end + width));
    if (room < 0) break;
    end += width;
  }
  return text.slice(0, end) + TRUNCATION_MARKER;
}

/** Halves every list; undefined when no list can be shortened. */
function dropTails(value: JsonObject): JsonObject | undefined {
  let dropped = false;
  const shorten = (item: JsonValue): JsonValue => {
    if (Array.isArray(item)) {
      const kept = item.slice(0, Math.floor(item.length / 2));
      if (kept.length < item.length) dropped = true;
      return kept.map(shorten);
    }
    if (!isJsonObject(item)) return item;
    return Object.fromEntries(Object.entries(item).map(([key, child]) => [key, shorten(child)]));
  };
  const shorter = shorten(value) as JsonObject;
  return dropped ? shorter : undefined;
}
