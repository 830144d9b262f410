import * as fc from "fast-check";
import { expect, test } from "vitest";
import { writeModule } from "../../cli/project/write-module.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";

async function read(source: string): Promise<unknown> {
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return (module as { readonly VALUE: unknown }).VALUE;
}

test("a written module exports the value, whatever its keys are and whatever repeats", async () => {
  const json = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<JsonValue>(null, true, 1.5, -0.25, "", "</script>\u2028`${x}"),
      fc.string({ unit: "binary" }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc
        .record({
          type: fc.constantFrom("object", "array"),
          properties: fc.constantFrom<JsonValue>({}, { b: 1, a: 2 }, { __proto__x: 1 }, [], null),
          required: fc.constantFrom<JsonValue>([], ["a", "b"], ["b", "a"], ["__proto__x"]),
          additionalProperties: fc.boolean(),
        })
        .map((schema): JsonValue => schema),
      fc
        .array(fc.tuple(fc.constantFrom("__proto__", "constructor", "a", "s0", "1"), tie("value")))
        .map((members) => {
          const made = members.map(
            ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
          );
          return JSON.parse(`{${made.join(",")}}`) as JsonValue;
        }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const long = {
        "a key that is long enough to be shared": [value, "and a text beside the value"],
      };
      const twice = [long, { again: long }, value];
      const text = JSON.stringify(twice);
      expect(JSON.stringify(await read(writeModule("VALUE", JSON.parse(text) as JsonValue)))).toBe(
        text,
      );
    }),
    { numRuns: 200 },
  );
});

test("what repeats is written once, and equal values give the same bytes", () => {
  const schema = { type: "object", properties: { name: { type: "string", maxLength: 80 } } };
  const tools = (count: number): JsonValue =>
    Array.from({ length: count }, (_, at) => ({ at, input: schema, output: { of: schema } }));
  expect(writeModule("VALUE", tools(9)).match(/maxLength/g)).toHaveLength(1);
  expect(writeModule("VALUE", tools(9))).toBe(writeModule("VALUE", tools(9)));
});
