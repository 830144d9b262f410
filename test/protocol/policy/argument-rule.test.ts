import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  argumentRule,
  findBrokenRule,
  type ArgumentRule,
} from "../../../src/protocol/policy/argument-rule.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { sampleOfRuns } from "../../shared/sample.ts";

const rule = (field: string, must: object): ArgumentRule =>
  v.parse(argumentRule, { tool: "mail__send", field, must });
const breaks = (field: string, must: object, args: JsonObject): boolean =>
  findBrokenRule([rule(field, must)], "mail__send", args) !== undefined;

const EVERY_PREDICATE = [
  { equal: "a" },
  { beOneOf: ["a", 1, true, null] },
  { notBeOneOf: ["b"] },
  { beAtLeast: 1 },
  { beAtMost: 5 },
  { haveLengthAtMost: 3 },
  { startWithOneOf: ["a"] },
  { endWithOneOf: ["a"] },
  { haveHostIn: ["example.com"] },
] as const;

describe("each predicate", () => {
  test.each<readonly [must: object, holds: readonly unknown[], broken: readonly unknown[]]>([
    [{ equal: "a" }, ["a"], ["A", "", 1, null, ["a"], {}]],
    [{ equal: 1 }, [1], ["1", true, 2]],
    [{ equal: null }, [null], [0, "", false, "null"]],
    [{ beOneOf: ["a", 1] }, ["a", 1], ["1", "b", ["a"], null]],
    [{ notBeOneOf: ["a", 1] }, ["b", "1", true, null], ["a", 1, ["a"], { a: 1 }]],
    [{ beAtLeast: 2 }, [2, 2.5], [1.9, "3", null, [3], true]],
    [{ beAtMost: 2 }, [2, -1], [2.1, "1", null, [1], false]],
    [{ haveLengthAtMost: 2 }, ["", "ab", [1, 2]], ["abc", [1, 2, 3], 1, { length: 1 }, null]],
    [{ startWithOneOf: ["ab", "c"] }, ["ab", "cd"], ["a", "AB", ["ab"], 1]],
    [{ endWithOneOf: ["@a.example"] }, ["x@a.example"], ["x@a.example.evil", ["x@a.example"], 1]],
    [{ beAbsent: true }, [], ["", null, 0, false, [], {}]],
  ])("%j", (must, holds, broken) => {
    const outcomes = [...holds, ...broken].map((at) => breaks("/at", must, { at } as JsonObject));
    expect(outcomes).toEqual([...holds.map(() => false), ...broken.map(() => true)]);
  });
});

describe("a host", () => {
  const hosts = { haveHostIn: ["example.com", ".corp.example", "10.0.0.1", "[::1]"] };
  test.each([
    "https://example.com",
    "http://example.com:8080/a?b#c",
    "HTTPS://EXAMPLE.COM/",
    "https://example.com./path",
    "https://a.corp.example",
    "https://a.b.corp.example/@x",
    "http://10.0.0.1/",
    "http://[::1]:80/",
  ])("lets %s pass", (at) => expect(breaks("/at", hosts, { at })).toBe(false));

  test.each([
    "https://evil.example",
    "https://example.com.evil.example",
    "https://notexample.com",
    "https://corp.example",
    "https://evilcorp.example",
    "https://.corp.example",
    "https://user@example.com",
    "https://user:pass@example.com",
    "https://@example.com",
    "https://example.com@evil.example",
    "https://example.com\\@evil.example",
    "https://evil.example\\.corp.example",
    "https://evil.example%2f.corp.example",
    "https://evil.example#.corp.example",
    "https://evil.example/.corp.example",
    "https:example.com",
    "https:///example.com",
    "http://012.0.0.1/",
    "http://0xa.0.0.1/",
    "http://10.1/",
    "http://167772161/",
    "http://10.0.0.1./",
    "http://[0::1]/",
    "https://example.com../",
    "//example.com",
    "https:/\texample.com",
    "https://example.com\n.evil.example",
    "//example.com",
    "ftp://example.com",
    "javascript://example.com/%0aalert(1)",
    "file://example.com/etc/passwd",
    " https://example.com",
    "https://exa\tmple.com",
    "https://ex\u00e4mple.com",
    "https://\uff45xample.com",
    "https://example.com:99999",
    "https://",
    "example.com",
    "",
  ])("refuses %j", (at) => expect(breaks("/at", hosts, { at })).toBe(true));
});

describe("a place", () => {
  test("that is missing breaks every rule but beAbsent", () => {
    for (const must of EVERY_PREDICATE) {
      for (const field of ["/at", "/at/below", "/at/*", "/text/below", "/list/below", "/list/7"]) {
        expect([must, field, breaks(field, must, { text: "a", list: [] })]).toEqual([
          must,
          field,
          true,
        ]);
      }
    }
    expect(breaks("/at/below", { beAbsent: true }, { at: {} })).toBe(false);
    expect(breaks("/at/*/below", { beAbsent: true }, { at: [{}, {}] })).toBe(false);
    expect(breaks("/at/*/below", { beAbsent: true }, {})).toBe(false);
  });

  test("with a star stands for every item of a list, and of nothing else", () => {
    const must = { endWithOneOf: ["@a.example"] };
    expect(breaks("/to/*/address", must, { to: [{ address: "x@a.example" }] })).toBe(false);
    expect(breaks("/to/*", must, { to: ["x@a.example", "y@evil.example"] })).toBe(true);
    expect(breaks("/to/*", must, { to: { 0: "x@a.example" } })).toBe(true);
    expect(breaks("/to/*", { beAbsent: true }, { to: { a: 1 } })).toBe(true);
    expect(breaks("/to/*/*", must, { to: [["x@a.example"], ["evil"]] })).toBe(true);
    expect(breaks("/to/0", { beAbsent: true }, { to: ["x"] })).toBe(true);
  });

  test("is an own property, never one of a prototype", () => {
    for (const field of ["/constructor", "/toString", "/__proto__", "/list/length", "/text/0"]) {
      expect(breaks(field, { beAbsent: true }, { list: [1], text: "a" })).toBe(false);
      expect(breaks(field, { notBeOneOf: ["x"] }, { list: [1], text: "a" })).toBe(true);
    }
  });

  test("may have slashes and tildes in its name", () => {
    expect(breaks("/a~1b~0c", { equal: 1 }, { "a/b~c": 1 })).toBe(false);
    expect(breaks("/a~01", { equal: 1 }, { "a~1": 1 })).toBe(false);
  });
});

test("every rule on an argument must hold, and rules of other tools do not apply", () => {
  const both = [rule("/at", { beAtLeast: 1 }), rule("/at", { beAtMost: 5 })];
  expect(findBrokenRule(both, "mail__send", { at: 3 })).toBeUndefined();
  expect(findBrokenRule(both, "mail__send", { at: 6 })?.predicate).toBe("beAtMost");
  expect(findBrokenRule(both, "mail__read", {})).toBeUndefined();
});

test("names the place, the predicate and a limit in numbers, never the value or a list of the policy", () => {
  const secret = "hunter2-hunter2";
  const found = (must: object): unknown =>
    findBrokenRule([rule("/to/*", must)], "mail__send", { to: [secret] });
  expect(found({ haveLengthAtMost: 3 })).toEqual({
    field: "/to/*",
    predicate: "haveLengthAtMost",
    limit: 3,
  });
  expect(found({ beAtLeast: 0 })).toEqual({ field: "/to/*", predicate: "beAtLeast", limit: 0 });
  for (const must of [{ equal: "x" }, { beOneOf: [1] }, { haveHostIn: ["example.com"] }]) {
    expect(found(must)).toEqual({ field: "/to/*", predicate: Object.keys(must)[0] });
  }
});

test("never throws and always answers, whatever the arguments are", () => {
  const keys = fc.constantFrom("a", "b", "0", "*", "__proto__", "constructor", "length", "~1");
  const field = fc
    .array(keys, { minLength: 1, maxLength: 4 })
    .map((path) => path.map((key) => `/${key.replaceAll("~", "~0")}`).join(""));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, -0, 1.5, "", "a", "https://example.com/", "\ud800"),
      fc.string(),
      fc.webUrl(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(keys, tie("value"), { maxKeys: 3 }),
    ),
  }));
  const args = fc.dictionary(keys, value, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
  const must = fc.constantFrom(...EVERY_PREDICATE, { beAbsent: true });
  fc.assert(
    fc.property(field, must, args, (at, predicate, given) => {
      const isAbsent = !breaks(at, { beAbsent: true }, given);
      // Presence and absence exclude each other for every predicate, except through an empty list.
      if (isAbsent && !at.includes("*") && predicate !== undefined && !("beAbsent" in predicate)) {
        expect(breaks(at, predicate, given)).toBe(true);
      }
      expect(typeof breaks(at, predicate, given)).toBe("boolean");
    }),
    sampleOfRuns(400),
  );
});

test("takes time linear in the size of the arguments", () => {
  const at = Array.from({ length: 100_000 }, () => ({ to: ["x@a.example"] }));
  expect(breaks("/at/*/to/*", { endWithOneOf: ["@a.example"] }, { at })).toBe(false);
});

test.each([
  ["no predicate", { must: {} }],
  ["two predicates", { must: { equal: 1, beAtMost: 2 } }],
  ["an unknown predicate", { must: { match: ".*" } }],
  ["a number beyond numbers", { must: { beAtMost: Number.POSITIVE_INFINITY } }],
  ["an empty prefix, which everything has", { must: { startWithOneOf: [""] } }],
  ["a host with a scheme", { must: { haveHostIn: ["https://example.com"] } }],
  ["a host that no URL spells so", { must: { haveHostIn: ["Example.com."] } }],
  ["text that UTF-8 cannot hold", { must: { equal: "\ud800" } }],
  ["a field that is no pointer", { field: "at" }],
  ["a field with a broken escape", { field: "/a~2" }],
  ["the whole arguments", { field: "" }],
])("a rule with %s is none", (_name, part) => {
  const document = { tool: "mail__send", field: "/at", must: { equal: 1 }, ...part };
  expect(v.safeParse(argumentRule, document).success).toBe(false);
});
