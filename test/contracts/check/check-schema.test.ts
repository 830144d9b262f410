import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { checkSchema } from "../../../src/contracts/check/check-schema.ts";
import { deriveSchema } from "../../../src/contracts/check/derive-schema.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";

const field = (schema: v.GenericSchema): string | undefined =>
  checkSchema(deriveSchema(v.strictObject({ f: schema })), 8192);

test.each<[string, v.GenericSchema]>([
  ["bounded text", v.pipe(v.string(), v.minLength(1), v.maxLength(9), v.description("Text."))],
  ["text of a format", v.pipe(v.string(), v.email())],
  ["text of a pattern", v.pipe(v.string(), v.regex(/^\d+$/))],
  ["bounded numbers", v.pipe(v.number(), v.gtValue(0), v.maxValue(9), v.multipleOf(0.5))],
  ["integers", v.pipe(v.number(), v.integer(), v.title("Count"))],
  ["booleans", v.boolean()],
  ["one value", v.literal("a")],
  ["a choice", v.picklist(["a", "b"])],
  ["what may be null", v.nullable(v.strictObject({ a: v.string() }))],
  ["what may be absent", v.optional(v.string(), "a")],
  ["what may be both", v.nullish(v.string())],
  ["bounded lists", v.pipe(v.array(v.strictObject({ a: v.string() })), v.maxLength(3))],
  ["examples", v.pipe(v.string(), v.metadata({ examples: ["a"], description: "Text." }))],
])("supports %s", (_name, schema) => {
  expect(field(schema)).toBeUndefined();
});

const lazy: v.GenericSchema = v.strictObject({ below: v.optional(v.lazy(() => lazy)) });
const nest = (depth: number): v.GenericSchema =>
  depth === 0 ? v.string() : v.strictObject({ a: nest(depth - 1) });

test.each<[string, v.GenericSchema, string, string]>([
  ["a union", v.union([v.string(), v.number()]), "/properties/f", "keyword anyOf may only be"],
  [
    "a union of three",
    v.nullable(v.union([v.string(), v.number()])),
    "/properties/f",
    "keyword anyOf may only be",
  ],
  [
    "a variant",
    v.variant("t", [v.strictObject({ t: v.literal(1) })]),
    "/properties/f",
    "keyword oneOf is not supported",
  ],
  [
    "an intersection",
    v.intersect([v.strictObject({})]),
    "/properties/f",
    "keyword allOf is not supported",
  ],
  [
    "an exclusion",
    v.pipe(v.string(), v.notValue("a")),
    "/properties/f",
    "keyword not is not supported",
  ],
  ["a recursion", lazy, "", "keyword $defs is not supported"],
  ["a tuple", v.strictTuple([v.string()]), "/properties/f", "keyword additionalItems is not"],
  ["an open tuple", v.tuple([v.string()]), "/properties/f/items", "must be one schema"],
  ["a record", v.record(v.string(), v.string()), "/properties/f", "keyword propertyNames is not"],
  ["anything", v.any(), "/properties/f", "keyword type must name one type"],
  ["a list of anything", v.array(v.unknown()), "/properties/f/items", "keyword type must name"],
  ["a choice of two types", v.picklist(["a", 1]), "/properties/f", "keyword type must name one"],
  [
    "an open object",
    v.array(v.object({ a: v.string() })),
    "/properties/f/items",
    "keyword additionalProperties must be false",
  ],
  [
    "an object with a rest",
    v.objectWithRest({}, v.string()),
    "/properties/f",
    "keyword additionalProperties must be false",
  ],
  ["encoded bytes", v.pipe(v.string(), v.base64()), "/properties/f", "keyword contentEncoding is"],
  [
    "a dangerous pattern in what may be null",
    v.nullable(v.pipe(v.string(), v.regex(/^(a+)+$/))),
    "/properties/f/anyOf/0",
    "pattern repeats a group that contains a repetition",
  ],
  ["an empty description", v.pipe(v.string(), v.description(" ")), "/properties/f", "description"],
  [
    "a long description",
    v.pipe(v.string(), v.description("x".repeat(1025))),
    "/properties/f",
    "description must have 1 to 1024 characters",
  ],
])("refuses %s and says where", (_name, schema, pointer, reason) => {
  expect(field(schema)).toContain(`schema at "${pointer}": ${reason}`);
});

test("nests ten levels deep and no deeper", () => {
  expect(field(nest(8))).toBeUndefined();
  expect(field(nest(9))).toContain("nests deeper than 10 levels");
});

/** What valibot cannot say, but a schema from elsewhere could. */
describe("in a schema that is no valibot schema's", () => {
  const closed = (below: JsonObject): JsonObject => ({
    type: "object",
    properties: { f: below },
    additionalProperties: false,
  });

  test.each<[string, JsonObject, string]>([
    ["a reference", { $ref: "#" }, "keyword $ref is not supported"],
    ["a conditional", { type: "string", if: {} }, "keyword if is not supported"],
    [
      "names by pattern",
      { type: "object", properties: {}, patternProperties: {}, additionalProperties: false },
      "keyword patternProperties is not supported",
    ],
    ["two types", { type: ["string", "null"] }, "keyword type must name one type"],
    ["an unknown type", { type: "date" }, "keyword type must name one type"],
    ["null or null", { anyOf: [{ type: "null" }, { type: "null" }] }, "keyword anyOf may only be"],
    ["null first", { anyOf: [{ type: "null" }, { type: "string" }] }, "keyword anyOf may only be"],
    [
      "more beside a union",
      { anyOf: [{ type: "string" }, { type: "null" }], minLength: 1 },
      "keyword minLength may not stand beside anyOf",
    ],
    ["a list of nothing said", { type: "array" }, "keyword items is missing"],
    ["an object of nothing said", { type: "object", additionalProperties: false }, "properties"],
    [
      "a required field that is not there",
      { type: "object", properties: {}, required: ["a"], additionalProperties: false },
      "keyword required names no property",
    ],
  ])("refuses %s", (_name, schema, reason) => {
    expect(checkSchema(closed(schema), 8192)).toContain(reason);
  });
});
