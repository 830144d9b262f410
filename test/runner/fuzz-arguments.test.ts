import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { registerContract } from "../../src/contracts/check/register.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { TAXONOMY_CLASSES } from "../../src/protocol/outcome/taxonomy.ts";
import { CORE_TOOLS } from "../../src/core-tools/pack.ts";
import { benchFor } from "../../src/testing/fakes/runner-ports.ts";
import { mutationOf, valueOf } from "../../cli/contracts/test/schema-values.ts";
import { sampleOfRuns } from "../shared/sample.ts";

/** Uses every kind of the schema subset. */
const everyKind = defineTool({
  name: "test__every_kind",
  version: "1.0.0",
  description: "Takes everything.",
  input: v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(20)),
    code: v.pipe(v.string(), v.regex(/^[a-z]{2}-[0-9]{3}$/)),
    kind: v.picklist(["a", "b"]),
    count: v.pipe(v.number(), v.integer(), v.minValue(-3), v.maxValue(9)),
    ratio: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    on: v.boolean(),
    note: v.nullable(v.string()),
    items: v.pipe(v.array(v.strictObject({ id: v.string() })), v.maxLength(3)),
  }),
  output: v.strictObject({ done: v.boolean() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["name", "items.*.id"], output: ["done"] },
  capabilities: [],
  execute: () => ok({ done: true }),
});

const CONTRACTS: readonly AnyToolContract[] = [...CORE_TOOLS, everyKind];
const RUNS = sampleOfRuns(200);
const policy = {
  allowedTools: CONTRACTS.map(({ name }) => name),
  budgets: { maxRepairs: 1_000_000 },
};

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  "%s",
  (name, contract) => {
    const { inputSchema } = registerContract(contract).spec;

    test("every valid input reaches the tool", async () => {
      await fc.assert(
        fc.asyncProperty(valueOf(inputSchema), async (args) => {
          const { call, journal } = benchFor(CONTRACTS, { policy });
          await call(name, args);
          expect(journal.events.map(({ type }) => type)).toEqual([
            "tool_call_start",
            "tool_call_result",
          ]);
        }),
        RUNS,
      );
    });

    test("an input with one fault is refused with the class of that fault", async () => {
      await fc.assert(
        fc.asyncProperty(mutationOf(inputSchema), async ({ args, taxonomyClass }) => {
          const { call, journal } = benchFor(CONTRACTS, { policy });
          const { observation } = await call(name, args);
          expect(observation.status).toMatchObject({
            taxonomy_class: taxonomyClass,
            repairable: true,
          });
          expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
        }),
        RUNS,
      );
    });

    test("no text makes a call throw, and each call ends with one result", async () => {
      const text = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.json(),
        fc.json({ maxDepth: 8 }).map((json) => json.slice(0, -1)),
      );
      const { call, journal } = benchFor(CONTRACTS, { policy });
      let calls = 0;
      await fc.assert(
        fc.asyncProperty(text, async (args) => {
          const { observation } = await call(name, args);
          calls++;
          expect(TAXONOMY_CLASSES).toContain(observation.status.taxonomy_class);
        }),
        RUNS,
      );
      const results = journal.events.filter(({ type }) => type === "tool_call_result");
      expect(results.length).toBe(calls);
      expect(journal.records.length).toBe(calls);
    });
  },
);
