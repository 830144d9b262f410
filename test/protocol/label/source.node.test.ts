import * as fc from "fast-check";
import { expect, test } from "vitest";
import { admitsText } from "../../../src/contracts/check/admits-text.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json/value.ts";
import { describeSources, joinSources, type Source } from "../../../src/protocol/label/source.ts";

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant("tool" as const),
    tool: fc.integer({ min: 0, max: 24 }).map((number) => `t__${number}`),
    call: fc.integer({ min: 0, max: 9 }).map(String),
  }),
  fc.constantFrom("context", "file", "history", "more").map((kind) => ({ kind })),
);
const keyOf = (one: Source): string => (one.kind === "tool" ? one.tool : one.kind);

test("joined sources are bounded and each told once, and nothing that had a source loses them all", () => {
  fc.assert(
    fc.property(fc.array(fc.array(source)), (added) => {
      const joined = added.reduce(
        (known, more) => joinSources(known, more),
        [] as readonly Source[],
      );
      const all = added.flat();
      const keys = joined.map(keyOf);
      expect(new Set(keys).size).toBe(keys.length);
      expect(joined.length).toBeLessThanOrEqual(17);
      expect(joined.length === 0).toBe(all.length === 0);
      for (const one of joined) {
        // Of one tool the newest call stays.
        const newest = all.findLast((other) => keyOf(other) === keyOf(one));
        if (one.kind !== "more") expect(one).toEqual(newest);
      }
      const isCut = new Set(all.map(keyOf).filter((key) => key !== "more")).size > 16;
      const saysMore = isCut || all.some(({ kind }) => kind === "more");
      expect(joined.some(({ kind }) => kind === "more")).toBe(saysMore);
      expect(joinSources(joined, [])).toBe(joined);
    }),
  );
});

test("people read the sources in words", () => {
  const tool: Source = { kind: "tool", tool: "mail__read", call: "call_1" };
  expect(describeSources([{ kind: "more" }, tool, { kind: "file" }])).toBe(
    "earlier sources, the output of mail__read, a file",
  );
});

const closed = (properties: JsonValue): JsonObject => ({
  type: "object",
  properties,
  additionalProperties: false,
});

const NUMBERS = { type: "object", properties: { a: { type: "number" } } };

test.each<[string, boolean, JsonValue]>([
  ["numbers, booleans, null", false, closed({ a: { type: "integer" }, b: { type: "boolean" } })],
  ["listed words", false, closed({ a: { enum: ["x", "y"] }, b: { const: "z" } })],
  ["a list of closed objects", false, { type: "array", items: closed({ a: { type: "number" } }) }],
  ["one of two clean forms", false, { anyOf: [{ type: "null" }, { type: "number" }] }],
  ["a text", true, closed({ a: { type: "number" }, b: { type: "string" } })],
  ["a text of a format", true, closed({ a: { type: "string", format: "date" } })],
  ["a list of anything", true, { type: "array" }],
  ["a list of texts", true, { type: "array", items: { type: "string" } }],
  ["names of members", true, { ...NUMBERS, additionalProperties: { type: "number" } }],
  ["more members than listed", true, NUMBERS],
  ["a text or null", true, { anyOf: [{ type: "null" }, { type: "string" }] }],
  ["an unknown form", true, { $ref: "#/definitions/a" }],
  ["a text before numbers", true, { type: "array", prefixItems: [{}], items: { type: "null" } }],
  ["members by pattern", true, { ...closed({}), patternProperties: { "": { type: "string" } } }],
])("a schema with %s admits text: %s", (_name, expected, schema) => {
  expect(admitsText(schema)).toBe(expected);
});
