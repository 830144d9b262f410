import * as fc from "fast-check";
import { expect, test } from "vitest";
import { standsIn } from "../../../src/protocol/text/whole-word.ts";

const ANN = "ann@x.example";

test.each<readonly [value: string | number | boolean | null, text: string, stands: boolean]>([
  [ANN, `Mail ${ANN}.`, true],
  [ANN, ANN, true],
  [ANN, `to (${ANN}), please`, true],
  [ANN, `“${ANN}”?!`, true],
  [ANN, `Mail jo${ANN}`, false],
  [ANN, `Mail jo.${ANN}`, false],
  [ANN, `Mail ${ANN}.evil`, false],
  [ANN, `https://${ANN}/`, false],
  [ANN, `x ${ANN}y and then ${ANN}`, true],
  [ANN, "Mail ANN@x.example", false],
  ["acme", "acme-evil", false],
  ["two words", "just two words.", true],
  ["two words", "two  words", false],
  ["abc", "abc", false],
  [" abcd", "x  abcd", false],
  ["12", "12", true],
  ["12", "12.5", false],
  [12, "Send 12.", true],
  [12, "Send €12, please", true],
  [12.5, "12.50 EUR", true],
  [12, "112", false],
  [12, "12%", false],
  [12, "-12", false],
  [-12, "-12", true],
  [1, "1,000", false],
  [0, "1,000", false],
  [1.5, "1.500", false],
  [1000, "1e3", false],
  [true, "true", false],
  [null, "null", false],
])("%j in %j: %s", (value, text, stands) => {
  expect(standsIn(value, ["other", text, "words"])).toBe(stands);
});

test("a word that stands between spaces is found; a part of a longer one never is", () => {
  const word = fc.stringMatching(/^[a-z0-9@.:/_-]{4,20}$/);
  const letter = fc.stringMatching(/^[a-z0-9@:/_-]$/);
  fc.assert(
    fc.property(word, letter, fc.string(), (text, more, around) => {
      expect(standsIn(text, [`${around} ${text} ${around}`])).toBe(true);
      const others = around.replaceAll(text, "");
      expect(standsIn(text, [`${others} ${more}${text}${more} ${others}`])).toBe(
        standsIn(text, [others]) || text.includes(`${more}${text}${more}`),
      );
    }),
    { numRuns: 500 },
  );
});

test("any text is searched in linear time", () => {
  // Without a bound these take minutes.
  for (const unit of ["a", "(", "aaaa ", "((((a"]) {
    const text = unit.repeat(200_000 / unit.length);
    expect(standsIn(`${unit.trim().repeat(20)}b`, [text])).toBe(false);
    expect(standsIn(7, [`${"7".repeat(100_000)}${"7x".repeat(50_000)}`])).toBe(false);
  }
});
