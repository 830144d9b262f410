import { expect, test } from "vitest";
import { findLongComments, findLongFile } from "../../scripts/find-long-lines.ts";

const LONG = "word ".repeat(20);
const SHORT = "word ".repeat(19).trim();

const formatPacketLines = (file: string, ...lines: readonly string[]): readonly number[] =>
  findLongComments(file, lines.join("\n")).map(({ line }) => line);

test.each([
  ["a line comment", "a.ts", [`// ${LONG}.`], [1]],
  ["an indented line comment", "a.mjs", ["f();", `      // ${LONG}`], [2]],
  ["a comment behind code", "a.ts", [`const a = 1; // ${LONG}`], [1]],
  ["a docstring of one line", "a.ts", [`/** ${LONG} */`], [1]],
  ["a line of a docstring", "a.ts", ["/**", ` * ${SHORT}`, ` * ${LONG}`, " */"], [3]],
  ["a comment of a style sheet", "a.css", [`/* ${LONG} */`], [1]],
  ["a comment of the configuration", "a.toml", [`# ${LONG}`], [1]],
])("a line over 100 columns is found: %s", (_name, file, lines, found) => {
  expect(formatPacketLines(file, ...lines)).toEqual(found);
});

test.each([
  ["a comment of 100 columns", "a.ts", [`// ${"x".repeat(97)}`]],
  ["a long string, which the formatter leaves", "a.ts", [`const a = "${LONG}";`]],
  ["code after a block comment", "a.ts", ["/* a */", `const a = "${LONG}";`]],
  ["a setting", "a.toml", [`name = "${LONG}"`]],
  ["a URL", "a.ts", [`// See https://example.com/${"x".repeat(100)}`]],
])("a line is left alone: %s", (_name, file, lines) => {
  expect(formatPacketLines(file, ...lines)).toEqual([]);
});

test.each([
  ["src/a/b.ts", 301, true],
  ["durable-objects/run/a.ts", 301, true],
  ["cli/a.ts", 301, true],
  ["apps/desk/tools/a.ts", 301, true],
  ["src/a/b.ts", 300, false],
  ["apps/desk/test/a.test.ts", 301, false],
  ["test/a.test.ts", 301, false],
])("of %s with %d lines is too long: %s", (file, lines, isLong) => {
  const found = findLongFile(file, "x;\n".repeat(lines));
  expect(found).toEqual(isLong ? [{ file, lines }] : []);
});
