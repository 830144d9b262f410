import type { JsonValue } from "../../protocol/json/value.ts";

/** Reads a time in ISO 8601 as Unix milliseconds; undefined for any other value. Never throws. */
export function readTime(value: JsonValue | undefined): number | undefined {
  const atMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(atMs) ? atMs : undefined;
}
