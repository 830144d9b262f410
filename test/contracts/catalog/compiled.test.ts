import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { compileContracts, readCompiled } from "../../../src/contracts/catalog/compiled.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { fail } from "../../../src/protocol/outcome/result.ts";
import { complete, sound, undo } from "../definitions.ts";

const define = (definition: object): AnyToolContract => defineTool(definition as never);
const one = define(complete);
const two = define(undo);
const twoAgain = define({ ...undo, version: "1.0.1" });
const registered = registerContracts([one, two]);
const compiled = compileContracts(registered);

test("what was compiled reads back as it was registered, to the order of its fields", () => {
  const read = readCompiled([one, two], JSON.parse(JSON.stringify(compiled)));
  expect(read).toEqual(registered);
  expect(JSON.stringify(read)).toBe(JSON.stringify(registered));
});

test("throws the reason for which the build refused, with which nothing can be served", () => {
  expect(() => readCompiled([], fail("no redaction"))).toThrow("no redaction");
});

describe("refuses what was compiled from another list:", () => {
  test.each<[string, readonly AnyToolContract[]]>([
    ["a tool more", [one, two, twoAgain]],
    ["a tool less", [one]],
    ["another tool", [one, define(sound)]],
    ["another version", [one, twoAgain]],
    ["another order", [two, one]],
    ["another schema under the same version", [define({ ...complete, input: sound.input }), two]],
    ["another description", [define({ ...complete, description: "In other words." }), two]],
    ["none", []],
  ])("%s", (_name, contracts) => {
    expect(() => readCompiled(contracts, compiled)).toThrow(/run npx interlock build$/);
  });
});

describe("refuses what was compiled before one field of a schema changed:", () => {
  const of = (text: v.GenericSchema): readonly AnyToolContract[] => [
    define({ ...sound, input: v.strictObject({ text }), redaction: { args: [], output: [] } }),
  ];
  const label = v.pipe(v.string(), v.maxLength(9));
  const before = compileContracts(registerContracts(of(label)));

  test.each<[string, v.GenericSchema]>([
    ["another bound", v.pipe(v.string(), v.maxLength(8))],
    ["another kind of bound", v.pipe(v.string(), v.minLength(9))],
    ["a bound more", v.pipe(label, v.minLength(1))],
    ["no bound", v.string()],
    ["optional", v.optional(label)],
    ["another pattern", v.pipe(label, v.regex(/^a$/))],
    ["a list of values", v.picklist(["a"])],
    ["a description", v.pipe(label, v.description("A label."))],
  ])("%s", (_name, changed) => {
    expect(() => readCompiled(of(changed), before)).toThrow(/run npx interlock build$/);
    expect(readCompiled(of(v.pipe(v.string(), v.maxLength(9))), before)).toHaveLength(1);
  });

  test("another pattern, or other values, of the same kind", () => {
    const changes: readonly (readonly [v.GenericSchema, v.GenericSchema])[] = [
      [v.pipe(v.string(), v.regex(/^a$/)), v.pipe(v.string(), v.regex(/^b$/))],
      [v.picklist(["a", "b"]), v.picklist(["a", "c"])],
      [v.literal(true), v.literal(false)],
      [v.optional(v.string(), "a"), v.optional(v.string(), "b")],
    ];
    for (const [from, to] of changes) {
      const kept = compileContracts(registerContracts(of(from)));
      expect(() => readCompiled(of(to), kept)).toThrow(/run npx interlock build$/);
      expect(readCompiled(of(from), kept)).toHaveLength(1);
    }
  });
});

test.each([undefined, null, "text", {}, { ok: true }, { ok: true, value: [] }])(
  "refuses %j, which no build wrote",
  (other) => {
    expect(() => readCompiled([one, two], other)).toThrow(/run npx interlock build$/);
  },
);
