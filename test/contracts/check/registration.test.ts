import { expect, test } from "vitest";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import type { BoundTools } from "../../../src/capabilities/tool.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { httpErrorsOf } from "../../../src/protocol/outcome/http-failure.ts";
import { bindTools } from "../../../src/contracts/bind/tool-source.ts";
import { createToolCatalog, listOffered } from "../../../src/contracts/catalog/tool-catalog.ts";
import { CORE_TOOLS } from "../../../src/core-tools/pack.ts";
import { fakeRunCapabilities, policyOf } from "../../../src/testing/fakes/fakes.ts";
import { complete, sound, undo } from "../definitions.ts";
import { USER } from "../tool-user.ts";

const define = (definition: object): AnyToolContract => defineTool(definition as never);
const register = (...definitions: object[]): unknown =>
  bindTools(registerContracts(definitions.map((one) => define(one))), fakeRunCapabilities());

test("registers a sound contract", () => {
  expect(() => register(sound)).not.toThrow();
});

test("registers a contract with everything set", () => {
  const source = register(complete, undo) as BoundTools;
  expect(source.getBoundTool("test__complete", "2.10.3")).toMatchObject({
    lifecycle: { status: "deprecated", sunsetDate: "2028-02-29" },
    amountField: "/amount",
    requiresConnection: true,
    isIdempotent: true,
    isParallel: false,
    isOutputUntrusted: true,
    errorClasses: new Map(
      Object.entries({
        ...httpErrorsOf("external_side_effect"),
        card_declined: "SEMANTIC_INVALIDITY",
      }),
    ),
  });
});

test("no two tools have one title, so that nobody takes one for the other", () => {
  const titled = (name: string, title: string, version = "1.0.0"): object => {
    return { ...sound, name, title, version };
  };
  const versions = [titled("test__a", "Pay"), titled("test__a", "Pay", "2.0.0")];
  expect(() => register(...versions, titled("test__b", "Refund"))).not.toThrow();
  expect(() => register(...versions, titled("test__b", "PAY"))).toThrow(
    'Tool "test__b": title "PAY" is that of test__a',
  );
});

test("a contract with http declares HTTP failures, and its author's declarations win", () => {
  const security = { egressPolicy: "allowlisted_domains", egressHosts: ["a.example"] };
  const errorsOf = (change: object): unknown => {
    const source = register({ ...sound, capabilities: ["http"], security, ...change });
    const tool = (source as BoundTools).getBoundTool("test__sound", "1.0.0");
    return Object.fromEntries(tool?.errorClasses ?? []);
  };
  expect(errorsOf({})).toEqual(httpErrorsOf("read_only"));
  expect(errorsOf({ errors: { http_conflict: "PERMISSION_DENIED" } })).toEqual({
    ...httpErrorsOf("read_only"),
    http_conflict: "PERMISSION_DENIED",
  });
  expect(errorsOf({ capabilities: [], security: {} })).toEqual({});
});

test("refuses two contracts with one id", () => {
  expect(() => register(sound, sound)).toThrow(/taken/);
});

test("accepts two versions of one tool", () => {
  expect(() => register(sound, { ...sound, version: "1.0.1" })).not.toThrow();
});

test("refuses a compensating tool that is not registered", () => {
  expect(() => register(complete)).toThrow(
    'Tool "test__complete": compensationTool test__undo is not registered',
  );
});

test("refuses a compensating tool that only reads", () => {
  expect(() => register(complete, { ...sound, name: "test__undo" })).toThrow(
    'Tool "test__complete": compensationTool test__undo only reads; name a tool that changes',
  );
});

test("refuses a compensating tool that a crash could run twice, in any of its versions", () => {
  const blind = { ...undo, version: "1.1.0", idempotency: { supported: false } };
  expect(() => register(complete, undo, blind)).toThrow(
    "compensationTool test__undo is not idempotent; set its idempotency.supported",
  );
});

test("a tool that models never see is offered, and is in no catalog", () => {
  const specs = (register(undo, sound) as BoundTools).listToolSpecs();
  const policy = policyOf({ allowedTools: ["test__undo", "test__sound"] });
  const { tools } = createToolCatalog(specs, policy, { nowMs: 0, user: USER });
  expect([...tools.keys()]).toEqual(["test__sound"]);
  expect([...listOffered(specs, policy, { nowMs: 0 }).keys()]).toEqual([
    "test__undo",
    "test__sound",
  ]);
});

test.each([
  [
    "a write that names a tool to undo it",
    { transactional: { compensationTool: "test__undo" } },
    "compensable_write",
  ],
  ["a write that names none", {}, "irreversible_pivot"],
])("the semantics of %s are true without the author's word", (_, change, semantics) => {
  const { transactional } = define({ ...undo, ...change });
  expect(transactional.semantics).toBe(semantics);
});

test("keeps every allowlisted field and strips the rest, at any depth", () => {
  const source = register(sound) as BoundTools;
  const tool = source.getBoundTool("test__sound", "1.0.0");
  const args = { a: { b: [{ c: "kept", d: "dropped" }, { d: "dropped" }], e: "dropped" }, f: 1 };
  expect(tool?.redactArgs(args)).toEqual({ a: { b: [{ c: "kept" }, {}] } });
});

test("derives the same schema every time, closed, without a dialect", () => {
  const source = bindTools(registerContracts(CORE_TOOLS), fakeRunCapabilities());
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

test("a catalog holds what policy allows, also what people have to approve", () => {
  const source = bindTools(registerContracts(CORE_TOOLS), fakeRunCapabilities());
  const specs = source.listToolSpecs();
  const names = (policy: Parameters<typeof createToolCatalog>[1]): readonly string[] => [
    ...createToolCatalog(specs, policy, { nowMs: 0, user: USER }).tools.keys(),
  ];
  const all = specs.map(({ name }) => name);
  expect(names(policyOf({ allowedTools: all }))).toEqual(all);
  expect(names(policyOf({ allowedTools: [] }))).toEqual([]);
  const asking = policyOf({ allowedTools: all, requireApprovalForEffects: ["state_change"] });
  expect(names(asking)).toEqual(all);
});
