import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isWellFormed } from "../../../src/protocol/json/guard.ts";
import { toPointer } from "../../../src/protocol/json/pointer.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import {
  cutText,
  replaceHalves,
  replaceHalvesInJson,
} from "../../../src/protocol/text/whole-characters.ts";
import { boundFailure } from "../../../src/runner/outcome/tool-failure.ts";

const unit = fc.constantFrom(
  "a",
  "\u00e9",
  "\ufffd",
  "\\",
  "u",
  "d83d",
  '"',
  "\ud83d",
  "\ude00",
  "\ud83d\ude00",
);
const text = fc.array(unit, { maxLength: 40 }).map((units) => units.join(""));
const value = fc.letrec<{ value: JsonValue; leaf: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
  leaf: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
})).value;

test("a value becomes whole, once and for all, and keeps what was whole", () => {
  fc.assert(
    fc.property(value, (given) => {
      const whole = replaceHalves(given);
      expect(isWellFormed(whole)).toBe(true);
      expect(replaceHalves(whole)).toBe(whole);
      if (isWellFormed(given)) expect(whole).toBe(given);
    }),
  );
});

test("a text keeps its length and all its whole characters", () => {
  fc.assert(
    fc.property(text, (given) => {
      const whole = replaceHalves(given);
      expect(whole.length).toBe(given.length);
      const kept = Array.from(given).map((character) =>
        character.isWellFormed() ? character : "\ufffd",
      );
      expect(whole).toBe(kept.join(""));
    }),
  );
});

test("JSON text becomes the text of the whole value, and whole JSON text stays as it is", () => {
  fc.assert(
    fc.property(value, fc.boolean(), (given, escapesAll) => {
      const json = escapesAll ? escapeAll(JSON.stringify(given)) : JSON.stringify(given);
      const whole = replaceHalvesInJson(json);
      expect(JSON.parse(whole)).toEqual(replaceHalves(JSON.parse(json) as JsonValue));
      if (isWellFormed(given)) expect(whole).toBe(json);
    }),
  );
});

test("halves that are no escapes are replaced in JSON text too", () => {
  expect(replaceHalvesInJson('{"\ud83d":"\\ud83d\\ude00\ude00"}')).toBe(
    '{"\ufffd":"\\ud83d\\ude00\ufffd"}',
  );
});

test("a cut text is the longest head of whole characters", () => {
  fc.assert(
    fc.property(text.map(replaceHalves<string>), fc.nat(45), (given, maxChars) => {
      const head = cutText(given, maxChars);
      expect(head.isWellFormed()).toBe(true);
      expect(given.startsWith(head)).toBe(true);
      const [next = ""] = given.slice(head.length);
      expect(head.length <= maxChars && (next === "" || head.length + next.length > maxChars)).toBe(
        true,
      );
    }),
  );
});

test("pointers and failures that are cut hold whole characters", () => {
  fc.assert(
    fc.property(text, fc.nat(3), (given, before) => {
      const long = "x".repeat(before) + given.repeat(500);
      expect(toPointer([long, given]).isWellFormed()).toBe(true);
      const errors = [{ field: long, message: long, code: long }];
      expect(isWellFormed(boundFailure({ taxonomyClass: "TIMEOUT", errors }, String))).toBe(true);
    }),
  );
});

/** Writes each letter inside the strings of JSON text as an escape. */
function escapeAll(json: string): string {
  return json.replaceAll(
    /[\ud800-\udfff\u00e9]/g,
    (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
