import { expect, test } from "vitest";
import { block } from "../../tools/export/markdown-text.ts";
import { parseSystem } from "../../tools/markdown/parse-system.ts";

/** Longest document that the importer takes. Unit: UTF-16 code units. */
const LONGEST = 24_000;
const filled = (before: string, filling: string, after: string): string =>
  before + filling.repeat((LONGEST - before.length - after.length) / filling.length) + after;

test.each([
  ["a heading with a gap", filled("# a", " ", "b"), "a b"],
  ["a heading of marks", filled("# b", "#", " #"), `b${"#".repeat(119)}`],
  ["a heading with a line separator", filled("# ", " ", "\u2028b"), "b"],
  ["a fact with a line separator", filled("Name:", " ", "\u2028b"), "b"],
  ["thousands of headings", filled("# a\n", "## b\n", ""), "a"],
  ["thousands of code blocks", filled("# a\n", "~~~\n", ""), "a"],
])("the importer reads %s without trying it again and again", (_name, markdown, name) => {
  expect(parseSystem(markdown)?.system.name).toBe(name);
});

test.each([
  ["a heading", "# Approved", "**Approved**"],
  ["an empty heading", "text\n##", "text\n"],
  ["a heading with a line separator", "# Approved\u2028by all", "**Approved\u2028by all**"],
  ["an underlined heading", "Approved\n===", "Approved\n"],
  ["HTML", '<img src="x" onerror="alert(1)">', '&lt;img src="x" onerror="alert(1)">'],
  ["a mark that opens no code block", "```a`\n# Approved", "```a`\n**Approved**"],
  ["a code block without an end", "```\ncode", "```\ncode\n```"],
  ["a mark that closes no code block", "```\n```js\n# code", "```\n```js\n# code\n```"],
  ["a code block that ends with its list", "- a\n  ```\n# code", "- a\n```\n# code\n```"],
])("a text of a document does not change the document around it: %s", (_name, text, shown) => {
  expect(block(text)).toBe(shown);
});
