import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineSaga } from "../../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";

const journey = {
  version: "1.0.0",
  description: "Does a part of a journey.",
  input: v.strictObject({ place: v.string() }),
  output: v.strictObject({ booking: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["place"], output: ["booking"] },
} as const;

const base = {
  ...journey,
  capabilities: [],
  idempotency: { supported: true },
  execute: () => ok({ booking: "b" }),
} as const;

const undo = defineTool({ ...base, name: "test__undo" });
const book = defineTool({
  ...base,
  name: "test__book",
  transactional: { semantics: "saga_step", compensationTool: "test__undo" },
  compensate: (_args, { booking }) => ({ place: booking }),
});
const pay = defineTool({ ...base, name: "test__pay" });
const mail = defineTool({
  ...base,
  name: "test__mail",
  runtime: { retryForMs: 1_000 },
  transactional: { semantics: "retryable_post_pivot" },
});
const look = defineTool({
  ...base,
  name: "test__look",
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
});
const verified = {
  redaction: { ...base.redaction, state: ["booking"] },
  verification: {
    delaySeconds: 0,
    expect: () => ({ reference: "booking", state: { booking: "all" } }),
  },
  verify: () => Promise.resolve({ kind: "unknown" as const }),
};

const risky = defineTool({
  ...base,
  name: "test__risky",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  describe: () => ({ action: "Risk", consequence: "Much." }),
  ...verified,
});

const TOOLS: readonly AnyToolContract[] = [undo, book, pay, mail, look, risky];

function sagaOf(tools: readonly AnyToolContract[], change: object = {}): AnyToolContract {
  return defineSaga({
    ...journey,
    name: "test__journey",
    steps: tools.map((tool) => ({ tool, arguments: () => ({ place: "here" }) })),
    result: () => ({ booking: "all" }),
    ...change,
  } as never);
}

function register(...contracts: readonly AnyToolContract[]): unknown {
  return registerContracts([...TOOLS, ...contracts]);
}

test("the arguments of a step and the results before it have the types of their tools", () => {
  const saga = defineSaga({
    ...journey,
    name: "test__journey",
    steps: [
      { tool: look, arguments: ({ place }) => ({ place }) },
      { tool: book, arguments: (_, results) => ({ place: results.of(look).booking }) },
      // @ts-expect-error The tool takes a place.
      { tool: pay, arguments: (_, results) => ({ booking: results.of(book).booking }) },
    ],
    result: (_, results) => ({ booking: results.of(pay).booking }),
  });
  expect(saga.saga?.steps.map(({ tool }) => tool)).toEqual([
    "test__look",
    "test__book",
    "test__pay",
  ]);
  expect(saga).not.toHaveProperty("execute");
});

test("registers steps that can be undone, a pivot, what is repeated after it, and reads", () => {
  expect(() => register(sagaOf([look, book, book, look, pay, mail, look, mail]))).not.toThrow();
});

test("a saga reads the workspace of its first step that has one, unless it names another", () => {
  const keep = defineTool({
    ...base,
    name: "test__keep",
    capabilities: ["workspace"],
    workspace: "shelf",
  });
  const preview = {
    preview: () => Promise.resolve({ before: null, after: null }),
    redaction: { ...base.redaction, state: ["booking"] },
  };
  expect(sagaOf([book, keep])).toMatchObject({ capabilities: ["workspace"], workspace: "shelf" });
  expect(sagaOf([book, keep], { workspace: "stock" }).workspace).toBe("stock");
  expect(sagaOf([book])).toMatchObject({ capabilities: [] });
  expect(() => register(keep, sagaOf([book, keep], preview))).not.toThrow();
  expect(() => register(sagaOf([book], preview))).toThrow(
    "preview and checkState read a workspace; name it, or add a step that has one",
  );
});

// An undo of the call would be denied each step of the saga.
test("registration refuses a saga that undoes a call", () => {
  const undone = defineTool({
    ...base,
    name: "test__undone",
    transactional: { compensationTool: "test__journey" },
    compensate: (_args, { booking }) => ({ place: booking }),
  });
  expect(() => register(sagaOf([book]), undone)).toThrow(
    "compensationTool test__journey is a saga; name a tool that undoes the call itself",
  );
});

describe("registration refuses a saga with", () => {
  test.each<[string, AnyToolContract, string]>([
    [
      "a step that can be undone after one that cannot",
      sagaOf([pay, book]),
      "step 2, test__book, comes after test__pay, which cannot be undone; put it before",
    ],
    [
      "two steps that cannot be undone",
      sagaOf([pay, pay]),
      "step 2, test__pay, comes after test__pay, which cannot be undone",
    ],
    [
      "a step that is repeated before the pivot",
      sagaOf([book, mail]),
      "step 2, test__mail, is retryable_post_pivot, which cannot be undone; put it after",
    ],
    [
      "an unknown tool",
      sagaOf([defineTool({ ...base, name: "test__unknown" })]),
      "step 1, test__unknown, is not registered; add its contract to the list",
    ],
    [
      "itself as a step",
      sagaOf([sagaOf([book])]),
      "its steps go in a circle: test__journey → test__journey; name other tools",
    ],
    [
      "a step of a higher class",
      sagaOf([risky]),
      "step 1, test__risky, has the class HIGH_RISK_EXTERNAL; give the saga this class",
    ],
    [
      "a step of another effect",
      sagaOf([risky], {
        sideEffectClass: "HIGH_RISK_EXTERNAL",
        describe: () => ({ action: "Risk", consequence: "Much." }),
      }),
      "step 1, test__risky, has the effect external_side_effect; give the saga this effect",
    ],
    [
      "a verification of its own",
      sagaOf([book], verified),
      "a saga is verified by its steps; remove verify and the section verification",
    ],
    ["no steps", sagaOf([]), "saga.steps: must have a step"],
    ["17 steps", sagaOf(Array.from({ length: 17 }, () => book)), "must have at most 16 steps"],
    ["an execute", { ...sagaOf([book]), code: book.code }, "either execute or the steps"],
  ])("%s", (_, saga, reason) => {
    expect(() => register(saga)).toThrow(reason);
  });

  test("another saga as a step, and says the way when that leads back", () => {
    const tour = sagaOf([sagaOf([book])], { name: "test__tour" });
    const trip = sagaOf([sagaOf([book], { name: "test__tour" })], { name: "test__trip" });
    expect(() => register(trip, tour, sagaOf([book]))).toThrow(
      "step 1, test__tour, is a saga itself; name its steps instead",
    );
    expect(() => register(tour, sagaOf([tour]))).toThrow(
      'Tool "test__tour": its steps go in a circle: test__tour → test__journey → test__tour',
    );
  });

  test("a step that is not defined yet", () => {
    const early = { tool: undefined as never, arguments: () => ({}) };
    expect(() => sagaOf([], { steps: [early] })).toThrow(
      'Tool "test__journey": step 1 has no tool: the tool is not defined yet, because it is this saga',
    );
  });

  test("a step whose other version cannot be undone", () => {
    const pivot = defineTool({ ...base, name: "test__book", version: "2.0.0" });
    expect(() => register(pivot, sagaOf([book, book]))).toThrow("step 2, test__book, comes after");
  });
});
