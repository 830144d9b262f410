import { Ajv } from "ajv";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContractChange } from "../../cli/contracts/diff/contract-change.ts";
import { diffInputSchema, diffOutputSchema } from "../../cli/contracts/diff/diff-schemas.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { sampleOfRuns } from "../shared/sample.ts";

const c = "compatible";
const nullable = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: "null" }] });

describe("the verdict holds for values", () => {
  const ajv = new Ajv({ strict: false });
  const accepts = (schema: JsonObject): ((value: unknown) => boolean) =>
    ajv.compile(structuredClone(schema));
  const few = fc.integer({ min: 0, max: 3 });
  const sometimes = (entries: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
    fc.record(entries, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
  const leaf = fc
    .tuple(
      sometimes({
        type: fc.constantFrom("string", "integer", "number", "boolean", "null"),
        minimum: few,
        maximum: few,
        exclusiveMinimum: few,
        minLength: few,
        maxLength: few,
        multipleOf: fc.integer({ min: 1, max: 4 }),
        pattern: fc.constantFrom("^a", "b$"),
      }),
      fc.option(
        fc.oneof(
          fc.record({ const: fc.constantFrom("a", 1, null) }),
          fc.record({
            enum: fc.uniqueArray(fc.constantFrom("a", "ab", 1, null), { minLength: 1 }),
          }),
        ),
        { nil: {}, freq: 3 },
      ),
    )
    .map(([keywords, values]): JsonObject => Object.assign({}, keywords, values));
  const maybeNull = (inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
    fc.oneof(
      inner,
      inner.map((schema) => nullable(schema)),
    );
  const list = sometimes({
    items: maybeNull(leaf),
    minItems: few,
    maxItems: few,
    uniqueItems: fc.boolean(),
  });
  const anySchema = maybeNull(
    fc.record(
      {
        properties: fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(maybeNull(leaf), list)),
        required: fc.subarray(["a", "b"]),
        additionalProperties: fc.constantFrom<unknown[]>(false, false, true, { type: "string" }),
      },
      { requiredKeys: ["properties"] },
    ) as fc.Arbitrary<JsonObject>,
  );
  const item = fc.constantFrom<unknown[]>("", "a", "ab", "b", 0, 1, 2, 3, 1.5, true, null);
  const anyValue = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.dictionary(
        fc.constantFrom("a", "b", "c"),
        fc.oneof(item, fc.array(item, { maxLength: 3 })),
      ),
    },
    { weight: 1, arbitrary: item },
  );
  /** As a file holds it, with the prototype of other objects. */
  const plain = (schema: JsonObject): JsonObject =>
    JSON.parse(JSON.stringify(schema)) as JsonObject;
  /** Two schemas that share most of what they say, so that their difference is small. */
  const anyPair = fc
    .tuple(anySchema, anySchema, fc.infiniteStream(fc.nat(9)))
    .map(([before, other, dice]): readonly [JsonObject, JsonObject] => [
      before,
      blend(before, other, dice),
    ]);

  function blend(one: unknown, other: unknown, dice: Iterator<number>): JsonObject {
    const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>];
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    const entries = keys.flatMap((key): [string, unknown][] => {
      const both = [a[key], b[key]];
      if (
        both.every((value) => typeof value === "object" && value !== null && !Array.isArray(value))
      ) {
        return [[key, blend(a[key], b[key], dice)]];
      }
      const from = dice.next().value === 0 ? b : a;
      return Object.hasOwn(from, key) ? [[key, from[key]]] : [];
    });
    return Object.fromEntries(entries) as JsonObject;
  }

  test("equal schemas have no changes", () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        const difference = { path: [], before: plain(schema), after: plain(schema) };
        expect([...diffInputSchema(difference), ...diffOutputSchema(difference)]).toEqual([]);
      }),
    );
  });

  test("a compatible input still accepts old values, and a compatible output gives only known values", () => {
    const seen = { telling: 0 };
    const property = fc.property(
      anyPair,
      fc.array(anyValue, { minLength: 20, maxLength: 20 }),
      ([before, after], values) => {
        const [old, current] = [accepts(before), accepts(after)];
        const difference = { path: [], before, after };
        const isSafe = (changes: readonly ContractChange[]): boolean =>
          changes.every(({ kind }) => kind === c);
        const isSafeInput = isSafe(diffInputSchema(difference));
        const isSafeOutput = isSafe(diffOutputSchema(difference));
        for (const value of values) {
          const [wasAccepted, isAccepted] = [old(value), current(value)];
          if (isSafeInput && wasAccepted && !isAccepted) expect.fail("a safe input refuses");
          if (isSafeOutput && isAccepted && !wasAccepted) expect.fail("a safe output surprises");
          if ((isSafeInput || isSafeOutput) && wasAccepted !== isAccepted) seen.telling++;
        }
      },
    );
    const sample = sampleOfRuns(1_000);
    // Pairs that differ in what they accept, or the property would prove little. They are rare, so
    // a sample that has few of them is followed by others.
    for (let more = 0; seen.telling <= 5 && more < 20; more++) {
      fc.assert(property, { ...sample, seed: sample.seed + more });
    }
    expect(seen.telling).toBeGreaterThan(5);
  });
});
