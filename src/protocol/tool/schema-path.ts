import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";
import type { JsonSchema7 } from "./spec.ts";

/** Path part that means every item of a list. */
export const EACH = "*";

/** Finds the schema of the field at a path; undefined when the path names no field. */
export function schemaAt(schema: JsonSchema7, path: readonly string[]): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>(step, schema);
}

function step(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const { items, properties } = withoutNull(schema);
  if (name === EACH && isJsonObject(items)) return items;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  return asSchema(properties[name]);
}

/** Reads through the only union that the subset allows: a schema, or null. */
export function withoutNull(schema: JsonObject): JsonObject {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? (asSchema(anyOf[0]) ?? schema) : schema;
}

function asSchema(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Lists the names of every field of a schema, at any depth. */
export function fieldNames(schema: JsonValue | undefined): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldNames);
  if (!isJsonObject(schema)) return [];
  const { properties, items, anyOf } = schema;
  const fields = isJsonObject(properties) ? properties : {};
  return [...Object.keys(fields), ...[...Object.values(fields), items, anyOf].flatMap(fieldNames)];
}

/** Tells whether a dotted path is one that another path shows, or lies within it. */
export function isShownBy(field: string, shown: string): boolean {
  return field === shown || field.startsWith(`${shown}.`);
}
