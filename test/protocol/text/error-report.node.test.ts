import { expect, test } from "vitest";
import { maskWords, reportError } from "../../../src/protocol/text/error-report.ts";
import { maskValues } from "../../../src/protocol/secrets/mask-values.ts";

test.each([
  [
    "Cannot read properties of undefined (reading 'x')",
    "Cannot read properties of undefined (reading …)",
  ],
  ["no such table: events", "no such table: events"],
  [
    `Unexpected token 'h', "hello wor"... is not valid JSON`,
    "Unexpected token …, …... is not valid JSON",
  ],
  ["the PIN 4831 of card-77 is wrong", "the PIN … of … is wrong"],
  ["rejected bearer abcdefghijkl", "[secret]"],
  [`${"x".repeat(40)} ends`, "… ends"],
])("the message %j is logged as %j", (message, logged) => {
  expect(reportError(new TypeError(message))).toMatchObject({ name: "TypeError", message: logged });
});

test("values that only the caller knows are hidden", () => {
  const report = reportError(new Error("no such customer: Rosalind"), maskValues(["Rosalind"]));
  expect(JSON.stringify(report)).not.toContain("Rosalind");
});

test("the frames say where it was thrown, without the message", () => {
  const { frames } = reportError(new Error("one\n    at secret (place:1:1)\ntwo"));
  expect(frames[0]).toContain("error-report.node.test.ts");
  expect(frames.join()).toContain("error-report");
});

test("causes are told, and a cycle of causes ends", () => {
  const inner = new Error("inner");
  const outer = new Error("outer", { cause: inner });
  inner.cause = outer;
  const text = JSON.stringify(reportError(outer));
  expect(text.match(/inner|outer/g)?.length).toBeLessThan(20);
  expect(reportError(outer).cause?.message).toBe("inner");
});

test.each([
  ["a text", "4831"],
  ["nothing", undefined],
  [
    "an error whose message throws",
    Object.defineProperty(new Error("x"), "message", {
      get() {
        throw new Error("y");
      },
    }),
  ],
  [
    "a proxy that throws",
    new Proxy(new Error("x"), {
      get() {
        throw new Error("4831");
      },
    }),
  ],
])("%s is reported without its content", (_, thrown) => {
  expect(JSON.stringify(reportError(thrown))).not.toContain("4831");
});

test.each([
  [
    '{"message":"Incorrect API key: sk-abcdefghijklmnop"}',
    '{"message":"Incorrect API key: [secret]"}',
  ],
  ["max_tokens is above 8192", "max_tokens is above 8192"],
  ["send Authorization: Bearer abcdefghijkl", "[secret]"],
])("a provider's words %j are kept as %j", (words, kept) => {
  expect(maskWords(words)).toBe(kept);
});
