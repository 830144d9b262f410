import * as fc from "fast-check";
import { expect, test } from "vitest";
import { admitsText } from "../../../src/contracts/check/admits-text.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
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

const closed = (properties: JsonValue): JsonValue => ({
  type: "object",
  properties,
  additionalProperties: false,
});

test.each<[string, JsonValue, boolean]>([
  ["numbers, booleans, null", closed({ a: { type: "integer" }, b: { type: "boolean" } }), false],
  ["listed words", closed({ a: { enum: ["x", "y"] }, b: { const: "z" } }), false],
  ["a list of closed objects", { type: "array", items: closed({ a: { type: "number" } }) }, false],
  ["one of two clean forms", { anyOf: [{ type: "null" }, { type: "number" }] }, false],
  ["a text", closed({ a: { type: "number" }, b: { type: "string" } }), true],
  ["a text of a format", closed({ a: { type: "string", format: "date" } }), true],
  ["a list of anything", { type: "array" }, true],
  ["a list of texts", { type: "array", items: { type: "string" } }, true],
  ["names of members", { type: "object", additionalProperties: { type: "number" } }, true],
  ["more members than listed", { type: "object", properties: {} }, true],
  ["a text or null", { anyOf: [{ type: "null" }, { type: "string" }] }, true],
  ["an unknown form", { $ref: "#/definitions/a" }, true],
])("a schema with %s admits text: %s", (_name, schema, expected) => {
  expect(admitsText(schema)).toBe(expected);
});
