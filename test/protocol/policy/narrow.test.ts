import { expect, test } from "vitest";
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
