import type { JsonValue } from "../../protocol/json/value.ts";

/** Reads a list of an answer; an empty one where it is none. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
