import * as fc from "fast-check";
import { expect, test } from "vitest";
import { TRUNCATION_MARKER, truncateResult } from "../../src/runner/truncate-result.ts";

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;

test("a cut result fits, is well-formed text, and keeps what is short", () => {
  const document = fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.string({ unit: "binary", maxLength: 50 }), { maxLength: 8 }),
      fc.integer(),
    ),
  );
  fc.assert(
    fc.property(document, fc.integer({ min: 2, max: 400 }), (value, maxBytes) => {
      const cut = truncateResult(value, maxBytes);
      if (cut === undefined) return;
      expect(bytesOf(cut)).toBeLessThanOrEqual(maxBytes);
      expect(JSON.stringify(cut).isWellFormed()).toBe(true);
      expect(Object.keys(cut)).toEqual(Object.keys(value));
    }),
  );
});

test("long strings are cut alike, and short ones stay", () => {
  const value = { a: "x".repeat(500), b: "y".repeat(500), c: "short" };
  const cut = truncateResult(value, 200) as Record<string, string>;
  expect(cut["c"]).toBe("short");
  expect(cut["a"]?.endsWith(TRUNCATION_MARKER)).toBe(true);
  expect(cut["a"]?.length).toBe(cut["b"]?.length);
});

test("lists lose their ends when strings alone do not suffice", () => {
  const cut = truncateResult({ items: Array.from({ length: 500 }, (_, index) => index) }, 100);
  const items = cut?.["items"] as readonly number[];
  expect(items.length).toBeGreaterThan(5);
  expect(items[0]).toBe(0);
});

test("what cannot be shortened is not passed off as whole", () => {
  expect(truncateResult({ a: 1, b: 2, c: 3 }, 5)).toBeUndefined();
});
