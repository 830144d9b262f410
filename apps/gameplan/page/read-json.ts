import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";

/** Readers of JSON from the server. Contract: a missing or other value reads as an empty one. */

export function textOf(value: JsonObject, key: string): string {
  const text = own(value, key);
  return typeof text === "string" ? text : "";
}

export function numberOf(value: JsonObject, key: string): number {
  const number = own(value, key);
  return typeof number === "number" ? number : 0;
}

export function objectOf(value: JsonObject, key: string): JsonObject {
  const object = own(value, key);
  return isJsonObject(object) ? object : {};
}

export function listOf(value: JsonObject, key: string): readonly JsonObject[] {
  return valuesOf(value, key).filter(isJsonObject);
}

export function textsOf(value: JsonObject, key: string): readonly string[] {
  return valuesOf(value, key).filter((item) => typeof item === "string");
}

function valuesOf(value: JsonObject, key: string): readonly JsonValue[] {
  const list = own(value, key);
  return Array.isArray(list) ? list : [];
}

/** Threat: keys of data. `__proto__` must not answer for a missing key. */
function own(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
