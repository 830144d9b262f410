import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { array, assert, nat, property } from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { markdownParts } from "../../../scripts/markdown-parts.ts";
import type * as Parser from "../../../src/widget/markdown/create-parser.ts";
import type * as Addresses from "../../../src/widget/markdown/addresses.ts";
import type * as Reader from "../../../src/widget/markdown/markdown-reader.ts";
import type { MarkdownNode } from "../../../src/widget/markdown/nodes.ts";
import { normalise, readExamples, toHtml } from "./examples.ts";

/** The renderer without the DOM, bundled as the page has it. */
type Renderer = typeof Parser & typeof Addresses & typeof Reader;

const folder = mkdtempSync(join(tmpdir(), "interlock-markdown-"));
let renderer: Renderer;

beforeAll(async () => {
  const outfile = join(folder, "renderer.mjs");
  const files = ["create-parser.ts", "addresses.ts", "markdown-reader.ts"];
  const contents = files.map((file) => `export * from "./${file}";`).join("\n");
  const resolveDir = join(import.meta.dirname, "../../../src/widget/markdown");
  const stdin = { contents, resolveDir, loader: "ts" as const };
  await build({ stdin, bundle: true, format: "esm", outfile, plugins: [markdownParts] });
  renderer = (await import(outfile)) as Renderer;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const textOf = (nodes: readonly MarkdownNode[]): string =>
  nodes.map((node) => (typeof node === "string" ? node : textOf(node.children))).join("");
const withoutSpace = (text: string): string => text.replace(/\s+/g, "");

function read(pieces: readonly string[]) {
  const { createParser, isLinkable, MarkdownReader } = renderer;
  const reader = new MarkdownReader(createParser(isLinkable));
  const blocks = pieces.flatMap((piece) => reader.append(piece).final);
  return [...blocks, ...reader.end().final];
}

/** What a model writes: each mark, whole and within others. */
const ANSWER = `# Plan for *Tuesday*

Hello **bold text** and *soft* words, \`code here\`, ***both***, ~~gone~~ and __under__ lines. See
[the docs](https://example.com/a_b?x=1*2) or <https://example.org/x>, or https://plain.example/(a).
Wow! [1] is a citation, arr[0] too. 2 * 3 * 4 = 24; snake_case_name; a*b. Fish &amp; chips & more.

1. First item with **strong *nested* text**
2. Second
   - inner *one*
     1. deep
10. Tenth

- [ ] open
- [x] done [link](https://a.example)

> A quote with **bold**
> - item

Before the table:
| Name | **Price** | Note |
|:-----|------:|:---:|
| Apple | 1.20 | \`x\` |
| Pear | **2** | [shop](https://shop.example) |

\`\`\`ts
const a = b * c; // [x] **no**
- not an item
\`\`\`

---

After the rule an ![image](https://img.example/x.png).\r
Second line \\*as it is\\*.

42

The end **here**`;

describe("Markdown that streams", () => {
  it("only grows: no mark is shown that goes away with its other half", () => {
    const whole = withoutSpace(textOf(read([ANSWER])));
    const { createParser, isLinkable, MarkdownReader } = renderer;
    for (let length = 0; length <= ANSWER.length; length += 1) {
      const reader = new MarkdownReader(createParser(isLinkable));
      const { final, tail } = reader.append(ANSWER.slice(0, length));
      const shown = withoutSpace(textOf([...final, ...tail]));
      expect(whole.slice(0, shown.length), ANSWER.slice(0, length)).toBe(shown);
      // Nor does the page wait for what cannot become a mark.
      expect(shown.length).toBeGreaterThan((length / ANSWER.length) * whole.length - 90);
    }
  });

  it("becomes the same blocks wherever it is split", () => {
    const whole = read([ANSWER]);
    expect(read(ANSWER.split(""))).toEqual(whole);
    const cuts = array(nat(ANSWER.length), { maxLength: 8 });
    const isSame = (places: readonly number[]): void => {
      const ends = [0, ...places.toSorted((one, other) => one - other), ANSWER.length];
      const pieces = ends.slice(1).map((end, index) => ANSWER.slice(ends[index], end));
      expect(read(pieces)).toEqual(whole);
    };
    assert(property(cuts, isSame), { numRuns: 60 });
  });

  it.each([
    { name: "an endless line", text: "x".repeat(40_000) },
    { name: "an endless line of pairs", text: `a${"😀".repeat(20_000)}` },
    { name: "endless words", text: "word ".repeat(9_000) },
    { name: "endless code", text: `\`\`\`\n${"let x;\n".repeat(6_000)}` },
    { name: "an endless list", text: "- item\n".repeat(3_000) },
    { name: "an endless quote", text: "> words\n>\n".repeat(3_000) },
    { name: "endless brackets", text: "[".repeat(20_000) },
    { name: "an endless header", text: `|${"a|".repeat(9_000)}\n|${"-|".repeat(9_000)}\n` },
    // Each part of a long table repeats the header, here without letters.
    { name: "an endless table", text: `|1|2|\n|-|-|\n${"|c|d|\n".repeat(3_000)}` },
    { name: "endless definitions", text: "[a]: https://b.c\n".repeat(2_000), shown: "" },
  ])("keeps all of $name in a tail of bounded size", ({ text, shown = text }) => {
    const { createParser, isLinkable, MarkdownReader } = renderer;
    const reader = new MarkdownReader(createParser(isLinkable));
    const blocks = [];
    for (const piece of text.match(/[\s\S]{1,777}/g) ?? []) {
      const { final, tail } = reader.append(piece);
      blocks.push(...final);
      expect(textOf(tail).length).toBeLessThan(10_000);
    }
    blocks.push(...reader.end().final);
    const letters = (value: string): string => value.replaceAll(/[^a-z😀[]/gu, "");
    expect(textOf(blocks).isWellFormed()).toBe(true);
    expect(letters(textOf(blocks)) === letters(shown)).toBe(true);
  });

  it("says which block goes on with the one before it", () => {
    const blocks = read(`\`\`\`js\n${"let x;\n".repeat(3_000)}`.match(/[\s\S]{1,777}/g) ?? []);
    expect(blocks.length).toBeGreaterThan(2);
    expect(blocks[0]).toMatchObject({ name: "pre", language: "js" });
    for (const block of blocks.slice(1)) {
      expect(block).toMatchObject({ name: "pre", language: "js", continues: true });
    }
  });
});

/** Examples of CommonMark that the page reads otherwise, on purpose, by their reason. */
const OTHERWISE = {
  "HTML is text": [21, 31, 201, 308, 309, 344, 475, 476, 477, 491, 494, 524, 536, 642, 643],
  "a rare name of a character is text": [25, 32, 33, 34, 503],
  "a bare address is a link": [602, 608, 611],
};

describe("the examples of CommonMark", () => {
  it("are read as the specification says, but for those that the page reads otherwise", () => {
    const path = createRequire(import.meta.url).resolve("commonmark-spec/spec.txt");
    const examples = readExamples(readFileSync(path, "utf8"));
    const parser = renderer.createParser(() => true);
    const others = examples.filter(({ markdown, html }) => {
      const drawn = parser.parse(markdown, {}).map(({ element }) => toHtml(element));
      return normalise(drawn.join("\n")) !== normalise(html);
    });
    expect(examples).toHaveLength(652);
    // Two sections are about HTML alone.
    const worthy = others.filter(({ section }) => !["HTML blocks", "Raw HTML"].includes(section));
    const numbers = worthy.map(({ number }) => number);
    const expected = Object.values(OTHERWISE).flat();
    expect(numbers).toEqual(expected.toSorted((one, other) => one - other));
  });
});

describe("an address", () => {
  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:null/1",
    "//evil.example",
    "/logout",
    "#part",
    "https:",
    "",
  ])("is no link: %j", (address) => {
    expect(renderer.isLinkable(address)).toBe(false);
    const blocks = read([`[text](<${address}>) ![text](<${address}>) <${address}>`]);
    expect(JSON.stringify(blocks)).not.toMatch(/"name":"(?:a|img)"/);
  });

  it.each([
    ["https://example.com/a", "example.com"],
    ["https://example.com@evil.example/", "evil.example"],
    ["https://аpple.example/", "xn--pple-43d.example"],
    ["http://localhost:8787/x", "localhost:8787"],
    ["mailto:ann@example.com?subject=x", "ann@example.com"],
  ])("names where it leads: %j", (address, target) => {
    expect(renderer.isLinkable(address)).toBe(true);
    expect(renderer.nameTarget(new URL(address))).toBe(target);
  });
});
