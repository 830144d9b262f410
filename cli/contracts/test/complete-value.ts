import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import type { JsonSchema7 } from "../../../src/protocol/tool/spec.ts";
import { valueOf } from "./schema-values.ts";
import { sampleFrom } from "./subject.ts";

/** A value with every optional field, and the places whose text can be chosen freely. */
export interface Completed {
  readonly value: JsonObject;
  /** Dotted, `*` for items of a list, as in a redaction. */
  readonly texts: readonly string[];
}

/**
 * Makes a value of a schema with the caller's text wherever the schema accepts any text. A choice,
 * a pattern, a format or a length may exclude it.
 */
export function completeValue(schema: JsonSchema7, textAt: (path: string) => string): Completed {
  const texts: string[] = [];
  const value = complete(schema, [], (path, hasRoom) => {
    const text = textAt(path);
    if (!hasRoom(text)) return undefined;
    texts.push(path);
    return text;
  });
  if (!isJsonObject(value)) throw new Error("the schema is not of an object");
  return { value, texts };
}

/** Lists the paths of all fields of a value, in the form of a redaction. */
export function pathsIn(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[]).flatMap((item) => pathsIn(item, [...path, "*"]));
  }
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [path.join(".")];
  return Object.entries(value).flatMap(([name, below]) => pathsIn(below, [...path, name]));
}

/** Returns whether a redaction keeps the field at a path. */
export function isShown(path: string, allowlist: readonly string[]): boolean {
  // An empty list or object is kept when a field below it is kept.
  const isUnder = (inner: string, outer: string): boolean => `${inner}.`.startsWith(`${outer}.`);
  return allowlist.some((allowed) => isUnder(path, allowed) || isUnder(allowed, path));
}

/** Returns a text for a place that has room for it. */
type Fill = (path: string, hasRoom: (text: string) => boolean) => string | undefined;

function complete(schema: JsonSchema7, path: readonly string[], fill: Fill): JsonValue {
  const { anyOf, properties, items } = schema;
  if (Array.isArray(anyOf) && isJsonObject(anyOf[0])) return complete(anyOf[0], path, fill);
  if (isJsonObject(properties)) {
    const fields = Object.entries(properties as Readonly<Record<string, JsonSchema7>>);
    return Object.fromEntries(
      fields.map(([name, field]) => [name, complete(field, [...path, name], fill)]),
    );
  }
  if (isJsonObject(items) && isOneEnough(schema)) return [complete(items, [...path, "*"], fill)];
  const text = isFreeText(schema)
    ? fill(path.join("."), (candidate) => hasRoomFor(schema, candidate))
    : undefined;
  return text ?? sampleFrom(valueOf(schema), 1)[0] ?? null;
}

function isOneEnough({ minItems, maxItems }: JsonSchema7): boolean {
  return Number(minItems ?? 0) <= 1 && Number(maxItems ?? 1) >= 1;
}

function isFreeText(schema: JsonSchema7): boolean {
  const bound = ["enum", "const", "pattern", "format"];
  return schema["type"] === "string" && !bound.some((keyword) => keyword in schema);
}

function hasRoomFor({ minLength, maxLength }: JsonSchema7, text: string): boolean {
  return (
    text.length >= Number(minLength ?? 0) &&
    text.length <= Number(maxLength ?? Number.POSITIVE_INFINITY)
  );
}
