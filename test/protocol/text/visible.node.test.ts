import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growthOf, LINEAR } from "../../shared/growth.ts";
import { toEditableJson } from "../../../src/protocol/text/hidden-characters.ts";
import { fromVisible, toVisible } from "../../../src/protocol/text/visible.ts";
import { sampleOfRuns } from "../../shared/sample.ts";

const kindsOf = (text: string): readonly string[] => toVisible(text).notes.map(({ kind }) => kind);

/** Text of what deceives, and what is close to it. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        ...Array.from(
          "\u202e\u2066\u200b\u200c\u200d\ufe0f\u00ad\u3164\u2800\n\r\t\u2028\u0085\u00a0 ⟦⟧×",
        ),
        "\ud83d",
        "\ude00",
        "\u{e0041}",
        "👩‍👩‍👧",
        "❤️",
        "1️⃣",
        "e\u0301",
        "\u0301",
        "\u1100\u1161",
        "가\u11a8",
        "\u212b",
        "⟦U+200B⟧",
        "⟦U+0041×3⟧",
        "  ",
      ),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(""));

test("no two texts are shown the same: what is shown can be taken back", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(fromVisible(toVisible(text).text)).toBe(text);
    }),
    sampleOfRuns(3_000),
  );
});

test("nothing that cannot be seen is left, but inside an emoji that the standard lists", () => {
  const unseen = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}[\p{Zs}--[ ]]]/v;
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = toVisible(text).text;
      expect(unseen.test(shown.replaceAll(/\p{RGI_Emoji}/gv, ""))).toBe(false);
      expect(shown).not.toMatch(/^ | $| {2}/);
    }),
    sampleOfRuns(3_000),
  );
});

test("what is composed and what is not are shown differently", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const composed = text.normalize("NFC");
      const shown = toVisible(text).text.normalize("NFC");
      if (composed !== text) expect(shown).not.toBe(toVisible(composed).text.normalize("NFC"));
    }),
    sampleOfRuns(3_000),
  );
});

test.each([
  ["a direction control", "pay \u202e001 to ann", "pay ⟦U+202E⟧001 to ann"],
  ["isolates", "\u2066a\u2069", "⟦U+2066⟧a⟦U+2069⟧"],
  ["zero width", "ad\u200bmin", "ad⟦U+200B⟧min"],
  ["many of one", "a\u200b\u200b\u200bb", "a⟦U+200B×3⟧b"],
  [
    "line ends",
    "ok\r\nRisk: none\u2028\u2029\u0085\v",
    "ok⟦U+000D⟧⟦U+000A⟧Risk: none⟦U+2028⟧⟦U+2029⟧⟦U+0085⟧⟦U+000B⟧",
  ],
  ["a tab", "a\tb", "a⟦U+0009⟧b"],
  ["tag characters", "hi\u{e0041}\u{e0042}", "hi⟦U+E0041⟧⟦U+E0042⟧"],
  ["a selector after a letter", "a\ufe0f", "a⟦U+FE0F⟧"],
  ["a selector that changes nothing", "😀\ufe0f", "😀⟦U+FE0F⟧"],
  ["the selector of an emoji, in its place", "❤\ufe0f", "❤️"],
  ["a family", "👩‍👩‍👧", "👩‍👩‍👧"],
  ["a joiner in no emoji", "👩\u200da", "👩⟦U+200D⟧a"],
  ["other spaces", "a\u00a0b\u3000c", "a⟦U+00A0⟧b⟦U+3000⟧c"],
  ["spaces at the ends", "  a ", "⟦U+0020×2⟧a⟦U+0020⟧"],
  ["spaces that push", "a    b", "a ⟦U+0020×3⟧b"],
  ["fillers that count as letters", "a\u3164\u115f\u2800", "a⟦U+3164⟧⟦U+115F⟧⟦U+2800⟧"],
  ["half characters", "\ud83d\ud83d!", "⟦U+D83D×2⟧!"],
  ["no character", "\uffff\u{e000}", "⟦U+FFFF⟧⟦U+E000⟧"],
  ["its own marks", "⟦U+202E⟧", "⟦U+27E6⟧U+202E⟧"],
  ["a pile of marks", `x${"\u0300".repeat(9)}`, `x${"\u0300".repeat(4)}⟦U+0300×5⟧`],
  ["an overlaid line", "1\u03360", "1⟦U+0336⟧0"],
  ["a letter in pieces", "cafe\u0301", "cafe⟦U+0301⟧"],
  ["a syllable in pieces", "\u1112\u1161\u11ab", "⟦U+1112⟧⟦U+1161⟧⟦U+11AB⟧"],
  ["another sign for the same letter", "10 \u212a", "10 ⟦U+212A⟧"],
])("shows %s", (_what, text, shown) => {
  expect(toVisible(text).text).toBe(shown);
});

test.each([
  "",
  "Refund 12.50 EUR to Ann",
  "Grüße, señor; 東京 – 서울",
  "Москва, Αθήνα, Երևան",
  "אבג",
])("leaves plain writing as it is: %s", (text) => {
  expect(toVisible(text).text).toBe(text);
});

describe("a note is made on", () => {
  test.each([
    ["a Cyrillic letter in a Latin word", "pаypal", "mixed_script"],
    ["a Greek one", "gοogle", "mixed_script"],
    ["an Armenian one", "gօօgle", "mixed_script"],
    ["a Cherokee one", "ᎪBC", "mixed_script"],
    ["a Greek letter in a Cyrillic word", "мοсква", "mixed_script"],
    ["digits of two scripts", "1০0", "mixed_script"],
    ["digits of two scripts in a Latin word", "a1০", "mixed_script"],
    ["an address with other letters", "münchen.example", "host"],
    ["an address in Cyrillic letters alone", "раура.example", "host"],
    ["two directions", "to שלום 100", "right_to_left"],
    ["a word in pieces by a hidden character", "p\u200bаypal", "mixed_script"],
    ["hidden characters", "a\u200b", "hidden"],
    ["piles of marks", "a\u0300\u0300\u0300\u0300\u0300", "stacked_marks"],
    ["letters in pieces", "e\u0301", "not_nfc"],
  ])("%s", (_what, text, kind) => {
    expect(kindsOf(text)).toContain(kind);
  });

  test.each([
    "Оплата счёта за апрель",
    "оса и сор на дороге",
    "Καλημέρα κόσμε",
    "iPhone手机",
    "東京タワー",
    "Straße 5, 3. Stock",
    "x² + 1½",
    "naïve café",
    "あいう。えお",
  ])("nothing in %s", (text) => {
    expect(kindsOf(text)).toEqual([]);
  });

  test("what gave rise to it, each once and at most sixteen", () => {
    expect(toVisible("pаypal раypal").notes).toEqual([
      { kind: "mixed_script", count: 2, codePoints: ["U+0430", "U+0440"] },
    ]);
    const many = Array.from({ length: 40 }, (_, at) => String.fromCodePoint(0xe0100 + at));
    const [note] = toVisible(many.join("")).notes;
    expect(note).toMatchObject({ kind: "hidden", count: 40 });
    expect(note?.codePoints).toHaveLength(16);
  });
});

test.each([
  ["spaces", " "],
  ["spaces before a letter", "  a"],
  ["zero width", "\u200b\u200c"],
  ["marks out of order", ""],
  ["half families", "👩‍"],
  ["flags", "🇩"],
  ["letters of two scripts", "pа"],
  ["words that look like addresses", "а."],
  ["jamo", "\u1100\u1161"],
])("the time grows with the length alone: %s", (what, unit) => {
  const text = (length: number): string =>
    what === "marks out of order"
      ? `a${"\u0301".repeat(length / 2)}${"\u0323".repeat(length / 2)}`
      : unit.repeat(length / unit.length);
  expect(growthOf((length) => void toVisible(text(length)), 4_000)).toBeLessThan(LINEAR);
});

test("JSON to be edited hides nothing and means the same", () => {
  fc.assert(
    fc.property(fc.dictionary(hostile, hostile), (value) => {
      const text = toEditableJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(/[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}[\p{C}--[\n]]]/v.test(text)).toBe(false);
    }),
  );
});
