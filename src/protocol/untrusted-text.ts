import type { JsonObject, JsonValue } from "./json.ts";
export function neutralise(value: JsonValue): {
  readonly value: JsonValue;
  readonly changed: boolean;
} {
  return { value: value as JsonObject, changed: false };
}
