import { expect, test } from "vitest";
import { checkPattern } from "../../../src/contracts/check/check-pattern.ts";

const KIB = 1024;

test.each([
  /^inv_\d+$/,
  /\S/,
  /\S+/,
  /^[a-z0-9-]{1,64}$/,
  /^\d{4}-\d\d-\d\d$/,
  /^\s*\S+$/,
  /^\d+(?:\.\d+)?$/,
  /^(?:draft|open|paid)$/,
  /^(?:ab){3}$/,
  /^(?:ab)+$/,
  /^a+?b$/,
  /^[(a+)+]$/,
  /^\(a\+\)\+$/,
  /^(?<year>\d+)-x$/,
  /^\\k$/,
])("takes %s", ({ source }) => {
  expect(checkPattern(source, 8 * KIB)).toBeUndefined();
});

const NESTED = "repeats a group that contains a repetition";
const ALTERNATIVES = "repeats a group that contains alternatives";
const EMPTY = "repeats a group that can match nothing";
const LOOKS = "looks around";
const REFERENCE = "uses a back-reference";
const WAYS = "may match in too many ways";

test.each([
  ["^(a+)+$", NESTED],
  ["^(?:a*)*$", NESTED],
  ["^(a{1,9}){2,}$", NESTED],
  ["^(?:(?:a?))+$", NESTED],
  ["^((a+)b)+$", NESTED],
  ["^(a+){2}$", NESTED],
  ["^(a+)+?$", NESTED],
  ["^(?:(a+)+)?$", NESTED],
  ["^(a|a)*$", ALTERNATIVES],
  ["^(?:x(a|ab))+$", ALTERNATIVES],
  ["^(a|)+$", ALTERNATIVES],
  ["^(?:)*$", EMPTY],
  ["^(?:\\b)+$", EMPTY],
  ["^(?=a)a$", LOOKS],
  ["^(?!a)b$", LOOKS],
  ["^(?:a(?!b))$", LOOKS],
  ["^(a)\\1$", REFERENCE],
  ["^(?<n>a)\\k<n>$", REFERENCE],
  ["^a*a*a*$", WAYS],
  ["a*a*b", WAYS],
  ["^a*|b*c*d$", WAYS],
  [`^${"a{0,200}".repeat(5)}$`, WAYS],
  [`^${"(a|a)".repeat(32)}$`, WAYS],
  ["(?<=a)b", "cannot be read"],
  ["(?i:a)", "cannot be read"],
  ["(", "cannot be read"],
  ["a".repeat(1025), "is longer than 1024 characters"],
])("refuses %s", (pattern, reason) => {
  expect(checkPattern(pattern, 8 * KIB)).toContain(reason);
});

test("the longer the text may be, the fewer repetitions a pattern may have", () => {
  expect(checkPattern("^a+b+$", 32 * KIB)).toBeUndefined();
  expect(checkPattern("^a+b+$", 256 * KIB)).toContain(WAYS);
  expect(checkPattern("^a+$", 256 * KIB)).toBeUndefined();
});

test("the slowest pattern that is taken ends within seconds on the longest text", () => {
  const pattern = /^a*a*$/;
  expect(checkPattern(pattern.source, 8 * KIB)).toBeUndefined();
  expect(pattern.test(`${"a".repeat(8 * KIB)}!`)).toBe(false);
});
