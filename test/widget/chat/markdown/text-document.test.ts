import { describe, expect, it } from "vitest";
import {
  appendText,
  EMPTY_TEXT,
  plainText,
  tailOf,
} from "../../../../src/widget/chat/markdown/text-document.ts";

describe("streamed text", () => {
  const source =
    "# Title\nfirst\nsecond\n\n1. one\n2) two\n- point\n```js\n- not an item\n\n<b>\n```\nlast `";
  const blocks = [
    { kind: "heading", text: "Title" },
    { kind: "paragraph", text: "first\nsecond" },
    { kind: "item", ordinal: 1, text: "one" },
    { kind: "item", ordinal: 2, text: "two" },
    { kind: "item", ordinal: undefined, text: "point" },
    { kind: "code", text: "- not an item\n\n<b>\n", continued: false },
    { kind: "paragraph", text: "last `" },
  ];
  const read = (pieces: readonly string[]) => {
    const document = pieces.reduce(appendText, EMPTY_TEXT);
    return [...document.blocks.slice(0, document.closedCount), ...tailOf(document)];
  };

  it("becomes the same blocks wherever it is split", () => {
    expect(read([source])).toEqual(blocks);
    expect(read(source.split(""))).toEqual(blocks);
    for (let at = 0; at <= source.length; at += 1) {
      expect(read([source.slice(0, at), source.slice(at)])).toEqual(blocks);
    }
  });

  it("does not change an earlier version of the document", () => {
    const before = appendText(EMPTY_TEXT, "one\n\ntwo\n\nthree");
    const left = appendText(before, "\n\nleft\n\n");
    const right = appendText(before, "\n\nright\n\n");
    expect(plainText(before)).toBe("one\ntwo\nthree");
    expect(plainText(left)).toBe("one\ntwo\nthree\nleft");
    expect(plainText(right)).toBe("one\ntwo\nthree\nright");
  });

  it.each([
    ["one endless line", "x".repeat(200_000)],
    ["one endless line of pairs", "a" + "😀".repeat(50_000)],
    ["endless words", "word ".repeat(40_000)],
    ["endless code", `\`\`\`\n${"let x;\n".repeat(30_000)}`],
    ["endless lines", "line\n".repeat(40_000)],
  ])("keeps all of %s in a tail of bounded size", (_, text) => {
    const pieces = text.match(/[\s\S]{1,777}/g) ?? [];
    const document = pieces.reduce(appendText, EMPTY_TEXT);
    const joined = read(pieces)
      .map((block) => block.text)
      .join("");
    const letters = (value: string) => value.replaceAll(/[\s`]/g, "");
    expect(letters(joined) === letters(text)).toBe(true);
    expect(document.closedCount).toBeGreaterThan(4);
    const tail = tailOf(document).reduce((sum, block) => sum + block.text.length, 0);
    expect(tail).toBeLessThan(40_000);
    expect(document.blocks.every((block) => block.text.isWellFormed())).toBe(true);
  });
});
