import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EmbedGrant } from "../../../src/protocol/identity/embed-grant.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import { narrowRun } from "../../../src/protocol/policy/narrow-run.ts";
import { lowerBudgets } from "../../../src/protocol/policy/narrow.ts";
import { parseToolPolicy, type ToolPolicy } from "../../../src/protocol/policy/document.ts";
import type { RunLimits } from "../../../src/protocol/policy/limits.ts";

const policyOf = (budgets: RunLimits): ToolPolicy => {
  const policy = parseToolPolicy({ allowedTools: [], budgets });
  if (!policy) throw new Error("no policy");
  return policy;
};

test.each<[string, RunLimits, RunLimits, RunLimits]>([
  ["the lower one counts", { maxReads: 5 }, { maxReads: 3 }, { maxReads: 3 }],
  ["the policy's counts when it is lower", { maxReads: 3 }, { maxReads: 5 }, { maxReads: 3 }],
  [
    "none of the policy's is lost",
    { maxReads: 3, maxCost: 1 },
    { maxReads: 2 },
    { maxReads: 2, maxCost: 1 },
  ],
  ["a new one is added", {}, { maxTokens: 100 }, { maxTokens: 100 }],
  ["nothing stays nothing", { maxWrites: 0 }, { maxWrites: 9 }, { maxWrites: 0 }],
  [
    "critical calls that policy does not mention stay none",
    {},
    { maxCritical: 9 },
    { maxCritical: 0 },
  ],
  ["steps that policy does not mention stay twenty", {}, { maxSteps: 90 }, { maxSteps: 20 }],
  [
    "time that policy does not mention stays a quarter of an hour",
    {},
    { maxWallClockMs: 86_400_000 },
    { maxWallClockMs: 900_000 },
  ],
  ["repairs that policy does not mention stay four", {}, { maxRepairs: 50 }, { maxRepairs: 4 }],
])("of two limits %s", (_name, policy, asked, expected) => {
  expect(lowerBudgets(policyOf(policy), asked).budgets).toEqual(expected);
});

test("without limits a policy is as it was", () => {
  const policy = policyOf({ maxReads: 1 });
  expect(lowerBudgets(policy, undefined)).toBe(policy);
});

describe("a run is narrowed", () => {
  const all: readonly string[] = ["a", "b", "c", "d"];
  const ids = fc.option(fc.uniqueArray(fc.constantFrom(...all)), { nil: undefined });

  test("to the tools that its request, its page and its assistant all leave", () => {
    fc.assert(
      fc.property(ids, ids, ids, (named, page, own) => {
        const lists = [named, page, own].filter((list) => list !== undefined);
        const { toolIds } = narrowRun({
          named: { toolIds: named },
          embed: page && { ...GRANT, toolIds: page },
          assistant: { settings: {}, ...(own && { toolIds: own }) },
        });
        const kept = all.filter((id) => lists.every((list) => list.includes(id)));
        expect(toolIds?.toSorted()).toEqual(lists.length > 0 ? kept : undefined);
      }),
    );
  });

  test("by nobody when nobody names anything", () => {
    expect(narrowRun({})).toEqual({});
  });
});

const GRANT: EmbedGrant = {
  id: "token-1",
  minterId: "user:ann" as ActorId,
  origin: "https://shop.example",
  toolIds: [],
};
