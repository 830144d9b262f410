import { describe, expect, test } from "vitest";
import { createReplacer } from "../../../src/protocol/secrets/replace-texts.ts";
import { MASK, maskValues, WITHHELD_TEXT } from "../../../src/protocol/secrets/mask-values.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";

/** Replaces in a text that arrives in these pieces. */
function replaceIn(texts: readonly string[], replacement: string, ...pieces: string[]): string {
  const replaced = createReplacer(texts, replacement)();
  return [...pieces.map((piece) => replaced.add(piece)), replaced.rest()].join("");
}

describe("a replacer", () => {
  test.each<[string, readonly string[], string, string]>([
    ["texts that overlap", ["abcd", "cdef"], "xabcdefx", "x_x"],
    ["a text inside another", ["bc", "abcde"], "abcde bc", "_ _"],
    ["an end that begins another text", ["aaab", "abaa"], "aaaabaaaa", "a_aa"],
    ["texts next to each other", ["ab"], "ababab", "___"],
    ["nothing", ["abc"], "ab c", "ab c"],
  ])("replaces %s", (_name, texts, text, expected) => {
    expect(replaceIn(texts, "_", text)).toBe(expected);
    expect(replaceIn(texts, "_", ...text.split(""))).toBe(expected);
  });

  test("finds what a search for each text finds, in random texts of few letters", () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const word = (chars: number): string =>
      Array.from({ length: chars }, () => "ab"[random(2)]).join("");
    for (let round = 0; round < 500; round++) {
      const texts = Array.from({ length: 1 + random(4) }, () => word(2 + random(4)));
      const text = word(30);
      const covered = Array.from({ length: text.length }, () => false);
      for (const one of texts) {
        for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) {
          covered.fill(true, at, at + one.length);
        }
      }
      const kept = Array.from(text)
        .filter((_, at) => !covered[at])
        .join("");
      expect(replaceIn(texts, "", text)).toBe(kept);
      const [first = 0, second = 0] = [random(31), random(31)].toSorted((a, b) => a - b);
      const cut = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect(replaceIn(texts, "_", ...cut)).toBe(replaceIn(texts, "_", text));
    }
  });

  test("holds back only the beginning of a text that is looked for, however long the pieces", () => {
    const replaced = createReplacer(["abab"], "_")();
    expect(["x", "aba", "bab", "ab", "ac"].map((piece) => replaced.add(piece))).toEqual([
      "x",
      "",
      "_",
      "",
      "ac",
    ]);
    expect(replaced.rest()).toBe("");
  });
});

describe("masked values", () => {
  const mask = maskValues(["s3cret-value"]);

  test.each<[string, JsonValue, JsonValue]>([
    ["texts", { a: ["x s3cret-value y"] }, { a: [`x ${MASK} y`] }],
    ["names of members", { "s3cret-value": 1 }, { [MASK]: 1 }],
    ["names that become equal", { "s3cret-value": 1, [MASK]: 2 }, { [MASK]: 1, [`${MASK}_2`]: 2 }],
  ])("are found in %s", (_name, value, expected) => {
    expect(mask(value)).toEqual(expected);
  });

  test("are found in numbers", () => {
    expect(maskValues(["4711"])({ a: 4711, b: 47 })).toEqual({ a: MASK, b: 47 });
  });

  test("that do not occur leave the very value", () => {
    const value = { a: ["s3cret", 1, null, true] };
    expect(mask(value)).toBe(value);
  });

  test("that are too long to be looked for withhold every text", () => {
    expect(maskValues(["x".repeat(200_000)])({ a: "hello", b: true })).toEqual({
      [WITHHELD_TEXT]: WITHHELD_TEXT,
      [`${WITHHELD_TEXT}_2`]: true,
    });
  });
});
