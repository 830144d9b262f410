import { isWellFormed } from "../json/guard.ts";
import { isJsonArray, type JsonValue } from "../json/value.ts";
import { isHighSurrogate } from "./encoding.ts";

/**
 * Cuts a text to a length, between two characters. Unit: UTF-16 code units.
 * Contract: pure; one unit shorter where the cut would leave half a character.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars);
}

/**
 * Replaces each half character (a lone surrogate) of a value by U+FFFD, also in names of members.
 * UTF-8 and canonical JSON cannot hold half a character, and some providers refuse one. Text from
 * outside passes here before it is stored, hashed or sent on.
 * Contract: pure; keeps the length of each text; answers a value without half characters as it is.
 * Of two names that become equal the last one stays.
 */
export function replaceHalves<Value extends JsonValue>(value: Value): Value {
  // The walk keeps the shape, so the result is a `Value` too.
  return isWellFormed(value) ? value : (replaceIn(value) as Value);
}

function replaceIn(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) return value.map(replaceIn);
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, item]) => [name.toWellFormed(), replaceIn(item)]));
}

/** An escaped pair, an escaped half, or any other escape. */
const ESCAPE = /\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|[^])/g;
const ESCAPED_HALF = /^\\u[dD].{3}$/;

/**
 * Replaces half characters in JSON text, escaped ones too, so that its parsed value has none.
 * Contract: pure; linear; changes nothing else. Text that is not JSON stays as it is otherwise.
 */
export function replaceHalvesInJson(text: string): string {
  return replaceHalves(text).replaceAll(ESCAPE, (escape) =>
    ESCAPED_HALF.test(escape) ? String.raw`\ufffd` : escape,
  );
}
