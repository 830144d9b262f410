import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";

/**
 * Tells whether values of a schema can hold text that the contract does not list. Numbers,
 * booleans, null and listed values cannot, nor can closed objects and lists of them, nor what
 * `isBounded` accepts.
 * Contract: pure; true for every form of schema that it does not know.
 */
export function admitsText(
  schema: JsonValue | undefined,
  isBounded: (schema: JsonObject) => boolean = () => false,
): boolean {
  if (!isJsonObject(schema)) return true;
  if (isBounded(schema)) return false;
  if (Object.keys(schema).some((keyword) => !KNOWN.has(keyword))) return true;
  const { type, enum: listed, anyOf, items, properties, additionalProperties } = schema;
  if (Array.isArray(listed) || "const" in schema) return false;
  if (Array.isArray(anyOf)) return anyOf.some((one) => admitsText(one, isBounded));
  if (type === "array") return admitsText(items, isBounded);
  if (type !== "object") return !TEXT_FREE.has(type);
  if (additionalProperties !== false || !isJsonObject(properties)) return true;
  return Object.values(properties).some((one) => admitsText(one, isBounded));
}

/** Another keyword may admit values that these do not tell of, as `prefixItems` does. */
const KNOWN: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "anyOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "title",
  "description",
  "examples",
  "default",
]);

const TEXT_FREE: ReadonlySet<unknown> = new Set(["number", "integer", "boolean", "null"]);
