import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/protocol/json/value.ts";
import {
  formatPacketLines,
  type PacketField,
  type PacketLine,
} from "../../../src/protocol/approval/packet-lines.ts";
import { PACKET } from "../../shared/packets.ts";

const withArguments = (shown: JsonObject): readonly PacketLine[] =>
  formatPacketLines({ ...PACKET, arguments: { shown, withheld: [] } }).filter(
    ({ field }) => field === "arguments",
  );

test("a call that changes nothing has no line about a state that nobody knows", () => {
  const read = { ...PACKET, riskClass: "READ_ONLY", afterState: null } as const;
  const states = formatPacketLines(read).filter(({ field }) => field.endsWith("State"));
  expect(states.map(({ field }) => field)).toEqual(["beforeState"]);
});

test("every field of a packet is a line, in the order of the canon", () => {
  expect(formatPacketLines(PACKET).map(({ field, label, text }) => [field, label, text])).toEqual([
    ["actionName", "Action", "Refund 40 EUR to Ann"],
    ["actionName", "Tool", "pay__refund, version 2.1.0"],
    ["consequence", "Consequence", "Ann gets 40 EUR back."],
    ["arguments", "Amount", "40"],
    ["arguments", "To › Name", "Ann"],
    ["withheld", "Iban", expect.stringMatching(/^withheld: /)],
    ["beforeState", "Status", "paid"],
    ["afterState", "After", "not known"],
    ["riskClass", "Risk", expect.stringContaining("CRITICAL_MUTATION")],
    ["dataClass", "Data class", "confidential"],
    ["owner", "Owner of the tool", "payments"],
    ["compensation", "Way back", "It cannot be undone."],
    ["expiresAt", "Expires", "2026-11-21T10:00:00.000Z"],
    ["rejectionPath", "If rejected", "The tool does not run."],
    ["idempotencyFingerprint", "Fingerprint", "sha256:f2a8"],
    ["traceId", "Trace", "run_1"],
  ] satisfies [PacketField, string, unknown][]);
});

describe("a value is worded as what it is", () => {
  test.each([
    [1, "1"],
    ["1", '"1"'],
    [-0.5, "-0.5"],
    [1e21, "1e+21"],
    [true, "true"],
    ["true", '"true"'],
    [null, "null"],
    ["null", '"null"'],
    ["", '""'],
    ['"quoted"', '""quoted""'],
    [[], "[]"],
    ["[]", '"[]"'],
    [{}, "{}"],
    ["1-2", "1-2"],
  ])("%j is shown as %s", (value, shown) => {
    const [line] = withArguments({ value });
    // What looks like a number and is none is quoted, too: that misleads nobody.
    expect([shown, `"${shown}"`]).toContain(line?.text);
    if (typeof value !== "string") expect(line?.text).toBe(shown);
  });

  test("no two objects give the same lines", () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    const object = fc.dictionary(fc.string(), json) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(object, object, (one, other) => {
        const isSame = JSON.stringify(withArguments(one)) === JSON.stringify(withArguments(other));
        const sorted = (value: JsonObject): string => JSON.stringify(value);
        if (isSame) expect(sorted(one)).toBe(sorted(other));
      }),
    );
    // Each value beside the text that looks like it.
    fc.assert(
      fc.property(json as fc.Arbitrary<JsonValue>, (value) => {
        const text = JSON.stringify(value);
        expect(withArguments({ value })).not.toEqual(withArguments({ value: text }));
      }),
    );
  });
});

describe("a field has a label that people can read", () => {
  const labelsOf = (shown: JsonObject): readonly string[] =>
    withArguments(shown).map(({ label }) => label);

  test.each<[JsonObject, readonly string[]]>([
    [{ bank_account: "x", bankName: "y" }, ["Bank account", "Bank name"]],
    [
      { items: [{ unitPrice: 1 }, { unitPrice: 2 }] },
      ["Items › 1 › Unit price", "Items › 2 › Unit price"],
    ],
    [{ tags: { "0": "x" } }, ["/tags/0"]],
    [{ "Amount ": 1 }, ["/Amount⟦U+0020⟧"]],
    [{ "a/b": 1, "": 2 }, ["/a~1b", "/"]],
  ])("%j", (shown, labels) => {
    expect(labelsOf(shown)).toEqual(labels);
  });

  test("which no other field has, withheld ones included", () => {
    expect(labelsOf({ pay_to: "ann", payTo: "eve", "pay-to": "bob" })).toEqual([
      "/pay_to",
      "/payTo",
      "/pay-to",
    ]);
    const args = { shown: { payTo: "ann" }, withheld: ["/pay_to"] };
    const labels = formatPacketLines({ ...PACKET, arguments: args }).map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining(["/payTo", "/pay_to"]));
  });
});

describe("the arguments of a packet are never empty", () => {
  const linesOf = (shown: JsonObject, withheld: readonly string[]) =>
    formatPacketLines({ ...PACKET, arguments: { shown, withheld } })
      .filter(({ field }) => field === "arguments" || field === "withheld")
      .map(({ field, label, text }) => [field, label, text]);

  test("a call without arguments says so", () => {
    expect(linesOf({}, [])).toEqual([["arguments", "Arguments", "none"]]);
  });

  test("a call whose every argument is withheld names each of them as withheld", () => {
    expect(linesOf({}, ["/amount", "/to"])).toEqual([
      ["withheld", "Amount", expect.stringMatching(/^withheld: /)],
      ["withheld", "To", expect.stringMatching(/^withheld: /)],
    ]);
  });

  test("a call with too many values for lines still names what is withheld", () => {
    const shown = { list: Array.from({ length: 300 }, (_, at) => at) };
    expect(linesOf(shown, ["/pin"])).toEqual([
      ["arguments", "Arguments", JSON.stringify(shown)],
      ["withheld", "Pin", expect.stringMatching(/^withheld: /)],
    ]);
  });
});

test("names of fields are made visible like values, and remarked on", () => {
  const [line] = withArguments({ "am\u200bount": "\u202e9", "а/b~": "x" });
  expect(line?.label).toBe("/am⟦U+200B⟧ount");
  expect(line?.text).toBe("⟦U+202E⟧9");
  expect(line?.notes).toEqual([{ kind: "hidden", count: 2, codePoints: ["U+200B", "U+202E"] }]);
  expect(withArguments({ "a/b~": "x" })[0]?.pointer).toBe("/a~1b~0");
});

test("an argument written like another line stays within its own line", () => {
  const text = "10\nRisk: READ_ONLY\r\n\u2028Expires: never";
  const [line, ...rest] = withArguments({ text });
  expect(rest).toEqual([]);
  expect(line?.text).not.toMatch(/[\r\n\u2028]/);
});

test("arguments too many for lines of their own are shown whole in one line", () => {
  const shown = { list: Array.from({ length: 5_000 }, (_, at) => `value ${at}`) };
  const lines = withArguments(shown);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.text).toBe(JSON.stringify(shown));
  const long = "x".repeat(100_000);
  expect(withArguments({ long })[0]?.text).toBe(long);
});

test("long names do not multiply", () => {
  const key = "k".repeat(2_000);
  const shown = {
    [key]: Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}`, at])),
  };
  expect(JSON.stringify(withArguments(shown)).length).toBeLessThan(10_000);
});
