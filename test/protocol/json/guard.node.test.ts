import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findDuplicateKey, findProtoKey, nestsTooDeep } from "../../../src/protocol/json/guard.ts";
import { toPointer } from "../../../src/protocol/json/pointer.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("measures the depth of any JSON as a parser would find it", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 12 }), fc.integer({ min: 0, max: 12 }), (text, limit) => {
      expect(nestsTooDeep(text, limit)).toBe(depthOf(JSON.parse(text)) > limit);
    }),
  );
});

test("brackets inside strings are no depth", () => {
  expect(nestsTooDeep(JSON.stringify({ a: '[[[[\\"[[[' }), 1)).toBe(false);
});

test("finds __proto__ wherever it hides and points at it", () => {
  expect(findProtoKey(JSON.parse('{"a/b":[0,{"__proto__":1}]}'))).toEqual([
    "a/b",
    "1",
    "__proto__",
  ]);
  expect(findProtoKey(JSON.parse('{"proto":{"constructor":1}}'))).toBeUndefined();
});

test("writes a path as a pointer, escaped and bounded", () => {
  expect(toPointer(["a/b", 1, "c~d"])).toBe("/a~1b/1/c~0d");
  expect(toPointer(["x".repeat(10_000)]).length).toBeLessThan(300);
});

test.each([
  ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', undefined],
  ['["a","a",{"x":"a","a":"a"},[],{},"a:","}"]', undefined],
  ['{"a":"\\"","b":"a","c":{}, "d" : [1,{ }]}', undefined],
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":{},"\\u0061":1}', ["a"]],
  ['{"x":[0,{"y":[]},{"y":{"z":1},"b":[],"y":2}]}', ["x", "2", "y"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
  ['{"":1,"b,{":[1,2],"":2}', [""]],
])("finds a key that one object holds twice: %s", (text, path) => {
  expect(() => JSON.parse(text) as unknown, "the text is JSON").not.toThrow();
  expect(findDuplicateKey(text)).toEqual(path);
});

test("finds no key twice in any value that was written by JSON.stringify", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findDuplicateKey(JSON.stringify(value))).toBeUndefined();
    }),
  );
});
