import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";

/**
 * Keywords of the provider's strict subset, by type. What is not listed makes a schema unfit:
 * `default`, `minLength` and `maxLength` among them are rejected by the API
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
 * Rewrites a schema for the provider's strict mode: every property required, optional ones nullable.
 * Contract: pure; linear; undefined when the schema does not fit the strict subset without losing
 * a rule, or when a null in the answer could not be traced back to one property.
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
  // The API asks for a type where JSON Schema lets a list of values speak for itself.
  if (type !== "array") return { type, ...schema };
  const items = isJsonObject(schema["items"]) && strictSchema(schema["items"], depth - 1);
  return items ? { ...schema, items } : undefined;
}

/** valibot's literals come as a bare `const`, its picklists as a bare `enum`; both are of one type. */
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
  // Groups that look around are outside the provider's regular expressions.
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
  // Which of two structures a value was meant for is not told, and so neither is what its nulls mean.
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
 * Undoes `toStrictSchema` in a call's arguments: drops each null that stands for "not given".
 * Contract: pure; linear; never throws. Text in which nothing changes, and text that is not one JSON
 * object, comes back as it was.
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

/** Works on the parsed copy and tells whether anything was dropped; as deep as the schema, no deeper. */
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

/** Counts instead of asking `some`: every item must be visited. */
function countDropped<Item>(items: readonly Item[], drop: (item: Item) => boolean): number {
  return items.filter((item) => drop(item)).length;
}

function propertiesOf(schema: JsonObject): JsonObject {
  return isJsonObject(schema["properties"]) ? schema["properties"] : {};
}

function requiredOf(schema: JsonObject): ReadonlySet<JsonValue> {
  return new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
}
