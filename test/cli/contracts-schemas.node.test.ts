import { describe, expect, test } from "vitest";
import type { ContractChange } from "../../cli/contracts/diff/contract-change.ts";
import { diffInputSchema, diffOutputSchema } from "../../cli/contracts/diff/diff-schemas.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";

const B = "breaking";

const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const field = (schema: JsonObject): JsonObject => object({ a: schema }, ["a"]);
const text = { type: "string" };
const nullable = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  anyOf: [schema, { type: "null" }],
  ...more,
});

/**
 * Each row holds in four ways: input there, input back, output there, output back. What takes
 * values away breaks callers, what adds values breaks readers, and what does both breaks both.
 */
const ROWS: readonly [string, JsonObject, JsonObject, string][] = [
  ["a field is removed, or new", object({ a: text }), object({}), "B c B B"],
  ["a required field is removed, or new", object({ a: text }, ["a"]), object({}), "B B B B"],
  ["a field is renamed", object({ a: text }, ["a"]), object({ b: text }, ["b"]), "B B B B"],
  ["a field is required, or no longer", object({ a: text }), field(text), "B c c B"],
  [
    "the order of required",
    object({ a: text, b: text }, ["a", "b"]),
    object({ a: text, b: text }, ["b", "a"]),
    "c c c c",
  ],
  [
    "an object opens",
    object({ a: text }),
    { ...object({ a: text }), additionalProperties: true },
    "c B B c",
  ],
  [
    "fields without a name are of a schema",
    object({}),
    { ...object({}), additionalProperties: text },
    "c B B c",
  ],
  [
    "the schema of fields without a name",
    { type: "object", additionalProperties: { ...text, maxLength: 1 } },
    { type: "object", additionalProperties: text },
    "c B B c",
  ],
  [
    "a field of an open object gets a schema",
    { type: "object" },
    { type: "object", properties: { a: text } },
    "B B B B",
  ],
  ["the type changes", field(text), field({ type: "boolean" }), "B B B B"],
  [
    "a whole number becomes a number",
    field({ type: "integer" }),
    field({ type: "number" }),
    "c B B c",
  ],
  ["a list of types", field({ type: ["string"] }), field({ type: ["string", "null"] }), "B B B B"],
  ["a type comes", field({}), field(text), "B c c B"],
  ["null is allowed", field(text), field(nullable(text)), "c B B c"],
  [
    "a bound below null",
    field(nullable({ ...text, maxLength: 5 })),
    field(nullable({ ...text, maxLength: 4 })),
    "B c c B",
  ],
  [
    "a union that is not with null",
    field({ anyOf: [text, { type: "number" }] }),
    field({ anyOf: [text] }),
    "B B B B",
  ],
  [
    "a value is removed from a list",
    field({ enum: ["x", "y"] }),
    field({ enum: ["x"] }),
    "B c c B",
  ],
  [
    "the order of a list of values",
    field({ enum: ["x", "y"] }),
    field({ enum: ["y", "x"] }),
    "c c c c",
  ],
  ["a value is replaced", field({ enum: ["x", "y"] }), field({ enum: ["x", "z"] }), "B B B B"],
  [
    "any text becomes a list of values",
    field(text),
    field({ type: "string", enum: ["x"] }),
    "B c c B",
  ],
  ["a constant changes", field({ const: "x" }), field({ const: "y" }), "B B B B"],
  [
    "a constant becomes a list of values",
    field({ const: "x" }),
    field({ type: "string", enum: ["x", "y"] }),
    "c B B c",
  ],
  ["minimum", field({ minimum: 1 }), field({ minimum: 2 }), "B c c B"],
  ["a bound comes", field({}), field({ minimum: 0 }), "B c c B"],
  ["exclusiveMinimum", field({ exclusiveMinimum: -1 }), field({ exclusiveMinimum: 0 }), "B c c B"],
  ["maximum", field({ maximum: 1 }), field({ maximum: 2 }), "c B B c"],
  ["exclusiveMaximum", field({ exclusiveMaximum: 1 }), field({ exclusiveMaximum: 2 }), "c B B c"],
  ["minLength", field({ minLength: 1 }), field({ minLength: 2 }), "B c c B"],
  ["maxLength", field({ maxLength: 1 }), field({ maxLength: 2 }), "c B B c"],
  ["minItems", field({ minItems: 1 }), field({ minItems: 2 }), "B c c B"],
  ["maxItems", field({ maxItems: 1 }), field({ maxItems: 2 }), "c B B c"],
  ["minProperties", field({ minProperties: 1 }), field({ minProperties: 2 }), "B c c B"],
  ["maxProperties", field({ maxProperties: 1 }), field({ maxProperties: 2 }), "c B B c"],
  ["multipleOf", field({ multipleOf: 2 }), field({ multipleOf: 4 }), "B c c B"],
  ["a multiple of something else", field({ multipleOf: 2 }), field({ multipleOf: 3 }), "B B B B"],
  [
    "items must differ",
    field({ type: "array" }),
    field({ type: "array", uniqueItems: true }),
    "B c c B",
  ],
  ["a pattern changes", field({ pattern: "^a" }), field({ pattern: "^b" }), "B B B B"],
  ["a pattern comes", field({}), field({ pattern: "^a" }), "B c c B"],
  ["a format changes", field({ format: "date" }), field({ format: "time" }), "B B B B"],
  ["a format comes", field({}), field({ format: "date" }), "B c c B"],
  ["a default changes", object({ a: { default: 1 } }), object({ a: { default: 2 } }), "B B B B"],
  ["a default comes", object({ a: text }), object({ a: { ...text, default: "x" } }), "B B B B"],
  [
    "a default beside null changes",
    object({ a: nullable(text, { default: null }) }),
    object({ a: nullable(text, { default: "x" }) }),
    "B B B B",
  ],
  [
    "a required field gets a default and is optional",
    field(text),
    object({ a: { ...text, default: "x" } }),
    "c B B B",
  ],
  [
    "items change",
    field({ type: "array", items: { maximum: 1 } }),
    field({ type: "array", items: { maximum: 2 } }),
    "c B B c",
  ],
  ["items come", field({ type: "array" }), field({ type: "array", items: text }), "B c c B"],
  ["items by position", field({ items: [text] }), field({ items: [text, text] }), "B B B B"],
  [
    "a field of a field",
    field(object({ b: { minLength: 1 } })),
    field(object({ b: {} })),
    "c B B c",
  ],
  [
    "a description",
    field({ ...text, description: "x" }),
    field({ ...text, description: "y" }),
    "c c c c",
  ],
  ["a title", field(text), field({ ...text, title: "y" }), "c c c c"],
  ["a keyword that nobody knows", field({ "x-unit": "m" }), field({ "x-unit": "km" }), "B B B B"],
  [
    "a schema that is no object",
    { properties: { a: true } },
    { properties: { a: false } },
    "B B B B",
  ],
];

function worst(changes: readonly ContractChange[]): string {
  expect(changes).not.toEqual([]);
  return changes.some(({ kind }) => kind === B) ? "B" : "c";
}

describe("a change of a schema", () => {
  test.each(ROWS)("%s", (_name, before, after, expected) => {
    const there = { path: [], before, after };
    const back = { path: [], before: after, after: before };
    const found = [
      worst(diffInputSchema(there)),
      worst(diffInputSchema(back)),
      worst(diffOutputSchema(there)),
      worst(diffOutputSchema(back)),
    ];
    expect(found.join(" ")).toBe(expected);
  });

  test("is reported with its place, its meaning, the old value and the new value", () => {
    const nested = (maximum: number): JsonObject =>
      field({ type: "array", items: nullable({ maximum }) });
    const difference = { path: ["contract"], before: nested(9), after: nested(5) };
    expect(diffInputSchema(difference).map(({ sentence }) => sentence)).toEqual([
      "/contract/properties/a/items/anyOf/0/maximum: maximum tightened, " +
        "calls that were accepted may be refused: 9 -> 5",
    ]);
  });

  test("names the field that took the place of another", () => {
    const difference = { path: [], before: object({ a: text }), after: object({ b: text }) };
    const [change] = diffOutputSchema(difference);
    expect(change?.sentence).toMatch(/^\/properties\/a: field renamed.*"a" -> "b"$/);
  });

  test("treats a field named like an object member as an ordinary field", () => {
    const hostile = JSON.parse('{"__proto__":{"type":"string"}}') as JsonObject;
    const difference = { path: [], before: object(hostile), after: object({ constructor: text }) };
    expect(worst(diffOutputSchema(difference))).toBe("B");
    expect(diffInputSchema({ path: [], before: object(hostile), after: object(hostile) })).toEqual(
      [],
    );
  });
});
