import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";

/**
 * Keywords of the provider's strict subset, by type. Any other keyword makes a schema unfit. The
 * API rejects `default`, `minLength` and `maxLength`, for example
 * (https://github.com/openai/openai-node/pull/1988, read 2026-11-20).
 */
const KEYWORDS: { readonly [type: string]: readonly string[] } = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "minItems", "maxItems"],
  string: ["pattern", "format"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  boolean: [],
  null: [],
};
const KEYWORDS_OF_ANY_TYPE: ReadonlySet<string> = new Set([
  "type",
  "enum",
  "const",
  "title",
  "description",
]);
const FORMATS: ReadonlySet<JsonValue> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);
const MAX_DEPTH = 10;

/**
 * Rewrites a schema for the provider's strict mode: every property is required, and optional ones
 * become nullable.
 * Contract: pure; linear; undefined when the schema would lose a rule in the strict subset, or when
 * a null in the answer could not be traced back to one property.
 */
export function toStrictSchema(schema: JsonSchema7): JsonSchema7 | undefined {
  const { $schema: _, ...root } = schema;
  return root["type"] === "object" ? strictSchema(root, MAX_DEPTH) : undefined;
}

function strictSchema(schema: JsonObject, depth: number): JsonObject | undefined {
  if (depth === 0) return undefined;
  if (Array.isArray(schema["anyOf"])) return strictUnion(schema, schema["anyOf"], depth);
  const type = schema["type"] ?? typeOfConst(schema);
  if (typeof type !== "string" || !hasOnlyKeywordsOf(type, schema)) return undefined;
  if (type === "object") return strictObject(schema, depth);
  // The API requires a type also where JSON Schema allows a bare list of values.
  if (type !== "array") return { type, ...schema };
  const items = isJsonObject(schema["items"]) && strictSchema(schema["items"], depth - 1);
  return items ? { ...schema, items } : undefined;
}

/** Derives the type of a bare `const` or `enum`, which valibot's literals and picklists become. */
function typeOfConst(schema: JsonObject): string | undefined {
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  const types = new Set(values.map((value) => (value === null ? "null" : typeof value)));
  const [type] = types;
  return types.size === 1 && type !== "object" ? type : undefined;
}

function hasOnlyKeywordsOf(type: string, schema: JsonObject): boolean {
  const own = Object.hasOwn(KEYWORDS, type) ? KEYWORDS[type] : undefined;
  if (!own) return false;
  const { format, pattern } = schema;
  if (format !== undefined && !FORMATS.has(format)) return false;
  // The provider's regular expressions have no lookaround groups.
  if (typeof pattern === "string" && pattern.includes("(?")) return false;
  return Object.keys(schema).every((key) => own.includes(key) || KEYWORDS_OF_ANY_TYPE.has(key));
}

function strictObject(schema: JsonObject, depth: number): JsonObject | undefined {
  if (schema["additionalProperties"] !== false) return undefined;
  const required = requiredOf(schema);
  const properties: [string, JsonObject][] = [];
  for (const [name, property] of Object.entries(propertiesOf(schema))) {
    const strict = isJsonObject(property) && strictSchema(property, depth - 1);
    if (!strict) return undefined;
    properties.push([name, required.has(name) ? strict : nullable(strict)]);
  }
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
  };
}

function strictUnion(
  schema: JsonObject,
  options: readonly JsonValue[],
  depth: number,
): JsonObject | undefined {
  const others = Object.keys(schema).filter((key) => key !== "anyOf");
  if (!others.every((key) => key === "title" || key === "description")) return undefined;
  // With two structures nobody can tell which one a value means, so its nulls are ambiguous.
  if (options.filter(isStructure).length > 1) return undefined;
  const anyOf: JsonObject[] = [];
  for (const option of options) {
    const strict = isJsonObject(option) && strictSchema(option, depth - 1);
    if (!strict) return undefined;
    anyOf.push(strict);
  }
  return { ...schema, anyOf };
}

function isStructure(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false;
  return schema["type"] === "object" || schema["type"] === "array" || "anyOf" in schema;
}

function nullable(schema: JsonObject): JsonObject {
  if (acceptsNull(schema)) return schema;
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  const isListed = "enum" in schema || "const" in schema;
  if (typeof type === "string" && !isListed) return { ...schema, type: [type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}

function acceptsNull(schema: JsonObject): boolean {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf))
    return anyOf.some((option) => isJsonObject(option) && acceptsNull(option));
  if (Array.isArray(schema["enum"])) return schema["enum"].includes(null);
  return type === "null" || schema["const"] === null;
}

/**
 * Reverts `toStrictSchema` in the arguments of a call: drops each null that means "not given".
 * Contract: pure; linear; never throws. Text without such a null, and text that is not one JSON
 * object, is returned unchanged.
 */
export function dropNullsOfOptional(schema: JsonSchema7, argumentsText: string): string {
  if (!argumentsText.includes("null")) return argumentsText;
  try {
    const args: unknown = JSON.parse(argumentsText);
    return isJsonObject(args) && dropIn(schema, args) ? JSON.stringify(args) : argumentsText;
  } catch {
    return argumentsText;
  }
}

/**
 * Changes the parsed value and answers whether it dropped anything. Recurses as deep as the schema.
 */
function dropIn(schema: JsonObject, value: unknown): boolean {
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) {
    const structure = anyOf.find(isStructure);
    return isJsonObject(structure) && dropIn(structure, value);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return isJsonObject(items) && countDropped(value, (item) => dropIn(items, item)) > 0;
  }
  return isJsonObject(value) && schema["type"] === "object" && dropInObject(schema, value);
}

function dropInObject(schema: JsonObject, value: JsonObject): boolean {
  const required = requiredOf(schema);
  const dropped = countDropped(Object.entries(propertiesOf(schema)), ([name, property]) => {
    if (!isJsonObject(property) || !Object.hasOwn(value, name)) return false;
    if (value[name] !== null) return dropIn(property, value[name]);
    const meansAbsent = !required.has(name) && !acceptsNull(property);
    return meansAbsent && Reflect.deleteProperty(value, name);
  });
  return dropped > 0;
}

/** Counts, because `some` would stop at the first hit and every item must be visited. */
function countDropped<Item>(items: readonly Item[], drop: (item: Item) => boolean): number {
  return items.filter((item) => drop(item)).length;
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema["properties"]) ? schema["properties"] : {};
}

function requiredOf(schema: JsonObject): ReadonlySet<JsonValue> {
  return new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
}
