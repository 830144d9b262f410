import { readFileSync } from "node:fs";
import * as v from "valibot";
import { expect, test } from "vitest";
import { argumentRule } from "../../../src/protocol/policy/argument-rule.ts";
import { toCanonicalJson } from "../../../src/protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import { toMillionths } from "../../../src/protocol/budget/millionths.ts";
import { limitsOf } from "../../../src/protocol/policy/limits.ts";
import { parseToolPolicy } from "../../../src/protocol/policy/document.ts";

/** The JSON blocks of the guide from the section "The document" on: the document first. */
function examplesOfGuide(): readonly unknown[] {
  const guide = readFileSync("docs/policy.md", "utf8").split("\n## The document\n")[1] ?? "";
  return [...guide.matchAll(/```json\n([^`]*)```/g)].map(
    ([, json]) => JSON.parse(json ?? "") as unknown,
  );
}

test("the guide's examples are a policy and rules", () => {
  const [document, ...parts] = examplesOfGuide();
  const rules = parts.find((part) => JSON.stringify(part).includes('"must"'));
  expect(parseToolPolicy(document)).toBeDefined();
  expect(v.safeParse(v.array(argumentRule), rules).issues).toBeUndefined();
});

test.each([
  ["the guide's", examplesOfGuide()[0]],
  ["the shortest", { allowedTools: [] }],
  ["one with short entries", { allowedTools: ["a__b", { id: "c__d", versions: ["1.0.0"] }] }],
  ["one with an empty budget", { allowedTools: [], budgets: {}, tenantBudgets: { maxCost: 0.1 } }],
])("a policy that was read reads as itself: %s", (_name, document) => {
  const policy = parseToolPolicy(document) as JsonValue | undefined;
  const text = toCanonicalJson(policy ?? null);
  expect(parseToolPolicy(JSON.parse(text))).toEqual(policy);
  expect(toCanonicalJson(parseToolPolicy(JSON.parse(text)) as JsonValue)).toBe(text);
});

test("no critical call is allowed unless a section sets a number", () => {
  expect(limitsOf({})).toEqual({ critical: 0 });
  expect(limitsOf({ maxCritical: 2, maxReads: 0 })).toEqual({ critical: 2, reads: 0 });
});

test.each([
  [0, 0],
  [0.1, 100_000],
  [0.29, 290_000],
  [1.1, 1_100_000],
  [123_456_789.1, 123_456_789_100_000],
  [999_999_999.999999, 999_999_999_999_999],
  [0.0000001, 1],
  [1e9, 1e15],
])("counts %d of money as %d millionths, never too few", (amount, millionths) => {
  expect(toMillionths(amount)).toBe(millionths);
});
