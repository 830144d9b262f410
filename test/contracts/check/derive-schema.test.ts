import * as v from "valibot";
import { expect, test } from "vitest";
import { deriveSchema } from "../../../src/contracts/check/derive-schema.ts";
import { hashOf, toCanonicalJson } from "../../../src/protocol/json/canonical-hash.ts";

const make = (): Parameters<typeof deriveSchema>[0] =>
  v.strictObject({
    b: v.pipe(v.string(), v.minLength(1), v.maxLength(9)),
    a: v.optional(v.picklist(["x", "y"]), "x"),
    c: v.nullable(v.strictObject({ z: v.number(), required: v.boolean() })),
  });

test("derives the same bytes every time", () => {
  expect(JSON.stringify(deriveSchema(make()))).toBe(JSON.stringify(deriveSchema(make())));
});

test("keeps the order of the fields, for the model reads it", () => {
  const properties = deriveSchema(make())["properties"];
  expect(Object.keys(properties as object)).toEqual(["b", "a", "c"]);
});

test("writing a schema in another order changes nothing about its hash", async () => {
  const other = v.strictObject({
    c: v.nullable(v.strictObject({ required: v.boolean(), z: v.number() })),
    a: v.optional(v.picklist(["x", "y"]), "x"),
    b: v.pipe(v.string(), v.maxLength(9), v.minLength(1)),
  });
  const [one, two] = [deriveSchema(make()), deriveSchema(other)];
  expect(toCanonicalJson(one)).toBe(toCanonicalJson(two));
  expect(await hashOf(one)).toBe(await hashOf(two));
});

test("another bound is another hash", async () => {
  const bounded = (most: number): Parameters<typeof deriveSchema>[0] =>
    v.strictObject({ n: v.pipe(v.number(), v.maxValue(most)) });
  const [one, two] = [deriveSchema(bounded(1)), deriveSchema(bounded(2))];
  expect(await hashOf(one)).not.toBe(await hashOf(two));
});

test("hands out a copy that shares nothing with the schema", () => {
  const options = ["x", "y"];
  const derived = deriveSchema(v.strictObject({ a: v.picklist(options) }));
  options.push("z");
  expect(derived).toMatchObject({ properties: { a: { enum: ["x", "y"] } } });
});
