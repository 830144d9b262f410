import { memberOf, pointerPart } from "./pointer.ts";
import type { JsonObject, JsonValue } from "./value.ts";

/**
 * Lists the values that redaction removed, as JSON pointers to the outermost ones.
 * Contract: pure and linear; it never cuts a pointer (RFC 6901).
 */
export function withheldPaths(whole: JsonObject, shown: JsonObject): readonly string[] {
  return [...withheldIn(whole, shown, "")];
}

function* withheldIn(whole: JsonValue, shown: JsonValue, at: string): Generator<string> {
  if (typeof whole !== "object" || whole === null) return;
  for (const [name, value] of Object.entries<JsonValue>(whole)) {
    const pointer = `${at}${pointerPart(name)}`;
    const kept = memberOf(shown, name);
    if (kept === undefined) yield pointer;
    else yield* withheldIn(value, kept, pointer);
  }
}
