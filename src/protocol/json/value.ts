export type JsonPrimitive = string | number | boolean | null;

/** A value that JSON can carry: finite numbers only, no cycles. */
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;

/** A JSON object. Its keys are untrusted, so read them as own properties. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Tells whether a parsed JSON value is an object: no array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells whether a parsed JSON value is an array. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}
