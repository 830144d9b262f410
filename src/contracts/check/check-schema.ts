import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { toPointer } from "../../protocol/json/pointer.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { checkPattern } from "./check-pattern.ts";

/**
 * Keywords that every provider, and all code that walks a schema, understands (seeds/000 #10, #13).
 */
const KEYWORDS: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "description",
  "title",
  "default",
  "examples",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "pattern",
  "format",
]);
const ANNOTATIONS: ReadonlySet<string> = new Set(["description", "title", "default", "examples"]);
const TYPES: ReadonlySet<JsonValue | undefined> = new Set([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);
const MAX_DEPTH = 10;
const MAX_DESCRIPTION_CHARS = 1024;

/**
 * Tells where and why a schema leaves the supported subset of JSON Schema; undefined when it stays
 * inside. `maxChars` is the length of the longest text that the schema's patterns are matched with.
 * Contract: pure; it refuses every keyword that is not on the list.
 */
export function checkSchema(schema: JsonSchema7, maxChars: number): string | undefined {
  return faultIn({ schema, path: [], depth: 1, maxChars });
}

interface SchemaPlace {
  readonly schema: JsonValue | undefined;
  readonly path: readonly string[];
  readonly depth: number;
  readonly maxChars: number;
}

function faultIn({ schema, path, depth, maxChars }: SchemaPlace): string | undefined {
  const at = (reason: string): string => `schema at ${JSON.stringify(toPointer(path))}: ${reason}`;
  if (depth > MAX_DEPTH) return at(`nests deeper than ${MAX_DEPTH} levels`);
  if (!isJsonObject(schema)) return at("must be one schema; lists of schemas are not supported");
  const reason = faultOf(schema, maxChars);
  if (reason !== undefined) return at(reason);
  for (const [keywords, below] of schemasBelow(schema)) {
    const place = { schema: below, path: [...path, ...keywords], depth: depth + 1, maxChars };
    const fault = faultIn(place);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

type Below = readonly [path: readonly string[], schema: JsonValue | undefined];

function schemasBelow({ properties, items, anyOf }: JsonObject): readonly Below[] {
  const fields = isJsonObject(properties) ? Object.entries(properties) : [];
  return [
    ...fields.map(([name, schema]): Below => [["properties", name], schema]),
    ...(items === undefined ? [] : [[["items"], items] satisfies Below]),
    ...(Array.isArray(anyOf) ? [[["anyOf", "0"], anyOf[0]] satisfies Below] : []),
  ];
}

/** Finds the fault of one schema, without the schemas below it. */
function faultOf(schema: JsonObject, maxChars: number): string | undefined {
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword));
  if (unknown !== undefined) return `keyword ${unknown} is not supported; remove it`;
  const { description, pattern } = schema;
  if (description !== undefined && !isDescription(description)) {
    return `description must have 1 to ${MAX_DESCRIPTION_CHARS} characters`;
  }
  if (typeof pattern === "string") {
    const fault = checkPattern(pattern, maxChars);
    if (fault !== undefined) return `pattern ${fault}`;
  }
  return "anyOf" in schema ? faultOfUnion(schema) : faultOfType(schema);
}

function isDescription(text: JsonValue): boolean {
  return typeof text === "string" && /\S/.test(text) && text.length <= MAX_DESCRIPTION_CHARS;
}

function faultOfUnion(schema: JsonObject): string | undefined {
  const { anyOf } = schema;
  const isNullable =
    Array.isArray(anyOf) &&
    anyOf.length === 2 &&
    isJsonObject(anyOf[0]) &&
    !("anyOf" in anyOf[0]) &&
    isNull(anyOf[1]) &&
    !isNull(anyOf[0]);
  if (!isNullable) return 'keyword anyOf may only be [schema, {"type":"null"}]';
  const other = Object.keys(schema).find((key) => key !== "anyOf" && !ANNOTATIONS.has(key));
  return other === undefined ? undefined : `keyword ${other} may not stand beside anyOf`;
}

function isNull(schema: JsonValue | undefined): boolean {
  return isJsonObject(schema) && schema["type"] === "null" && Object.keys(schema).length === 1;
}

function faultOfType(schema: JsonObject): string | undefined {
  const { type, items } = schema;
  const isListed = "const" in schema || "enum" in schema;
  if (type === undefined && isListed) return undefined;
  if (!TYPES.has(type)) return "keyword type must name one type";
  if (type === "object") return faultOfObject(schema);
  if (type === "array" && items === undefined) return "keyword items is missing";
  return undefined;
}

function faultOfObject(schema: JsonObject): string | undefined {
  const { properties, required, additionalProperties } = schema;
  if (additionalProperties !== false) return "keyword additionalProperties must be false";
  if (!isJsonObject(properties)) return "keyword properties is missing";
  // A field named __proto__ is not an own property of the derived schema.
  const names = Array.isArray(required) ? required : [];
  const isKnown = names.every((name) => Object.hasOwn(properties, String(name)));
  return isKnown ? undefined : "keyword required names no property";
}
