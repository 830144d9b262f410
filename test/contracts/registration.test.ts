import * as v from "valibot";
import { expect, test } from "vitest";
import { defineTool } from "../../src/contracts/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/tool-contract.ts";
import { createToolSource } from "../../src/contracts/static-tool-source.ts";
import { createToolCatalog } from "../../src/contracts/tool-catalog.ts";
import { CORE_TOOLS } from "../../src/tools/core/core-tools.ts";
import { fakeRunCapabilities, policyOf } from "../suites/fakes.ts";

const sound = {
  name: "test__sound",
  version: "1.0.0",
  description: "Sound.",
  input: v.strictObject({ a: v.strictObject({ b: v.array(v.strictObject({ c: v.string() })) }) }),
  output: v.strictObject({ ok: v.boolean() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["a.b.*.c"], output: ["ok"] },
  capabilities: [],
  execute: () => ({ ok: true, value: { ok: true } }),
};

const register = (...contracts: object[]): unknown =>
  createToolSource(
    contracts.map((contract) => defineTool(contract as never) as AnyToolContract),
    fakeRunCapabilities(),
  );

test("registers a sound contract", () => {
  expect(() => register(sound)).not.toThrow();
});

test.each([
  ["no redaction", { redaction: undefined }, /redaction is missing/],
  ["redaction of the output alone", { redaction: { output: [] } }, /redaction is missing/],
  [
    "redaction of a field that does not exist",
    { redaction: { args: ["a.x"], output: [] } },
    /names no field: a\.x/,
  ],
  ["a name without a namespace", { name: "sound" }, /namespace/],
  ["a name with a dot", { name: "test__so.und" }, /namespace/],
  ["a name over 64 characters", { name: `test__${"x".repeat(60)}` }, /64/],
  ["an input that takes unknown fields", { input: v.object({}) }, /strictObject/],
  ["a schema that JSON Schema cannot say", { input: v.strictObject({ at: v.date() }) }, /date/],
  ["a limit beyond 256 KiB", { runtime: { maxResultBytes: 262_145 } }, /maxResultBytes/],
])("refuses a contract with %s", (_name, change, reason) => {
  expect(() => register({ ...sound, ...change })).toThrow(reason);
});

test("refuses two contracts with one id", () => {
  expect(() => register(sound, sound)).toThrow(/taken/);
});

test("keeps every allowlisted field and strips the rest, at any depth", () => {
  const source = register(sound) as ReturnType<typeof createToolSource>;
  const tool = source.getBoundTool("test__sound", "1.0.0");
  const args = { a: { b: [{ c: "kept", d: "dropped" }, { d: "dropped" }], e: "dropped" }, f: 1 };
  expect(tool?.redactArgs(args)).toEqual({ a: { b: [{ c: "kept" }, {}] } });
});

test("derives the same schema every time, closed, without a dialect", () => {
  const source = createToolSource(CORE_TOOLS, fakeRunCapabilities());
  const [first] = source.listToolSpecs();
  expect(first?.inputSchema).toEqual({
    type: "object",
    properties: {
      timeZone: expect.objectContaining({ type: "string", minLength: 1, maxLength: 64 }),
    },
    required: ["timeZone"],
    additionalProperties: false,
  });
});

test("a catalog holds what policy allows, and nothing that needs approval", () => {
  const source = createToolSource(CORE_TOOLS, fakeRunCapabilities());
  const specs = source.listToolSpecs();
  const names = (policy: Parameters<typeof createToolCatalog>[1]): readonly string[] => [
    ...createToolCatalog(specs, policy, { nowMs: 0 }).tools.keys(),
  ];
  const all = specs.map(({ name }) => name);
  expect(names(policyOf({ allowedTools: all }))).toEqual(all);
  expect(names(policyOf({ allowedTools: [] }))).toEqual([]);
  const harmless = specs.filter(({ effect }) => effect !== "state_change");
  expect(harmless.length).toBeLessThan(all.length);
  const asking = policyOf({ allowedTools: all, requireApprovalForEffects: ["state_change"] });
  expect(names(asking)).toEqual(harmless.map(({ name }) => name));
});
