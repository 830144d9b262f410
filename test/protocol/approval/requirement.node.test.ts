import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  APPROVAL_PATTERNS,
  combineRequirements,
  PATTERN_DEFAULTS,
  type ApprovalRequirement,
} from "../../../src/protocol/approval/requirement.ts";
import { checkVote } from "../../../src/protocol/approval/check-vote.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import { decide, requirementOf, type DecidedTool } from "../../../src/protocol/policy/decide.ts";
import { parseToolPolicy } from "../../../src/protocol/policy/document.ts";

const tool = (change: Partial<DecidedTool> = {}): DecidedTool => ({
  id: "bank__pay",
  version: "1.0.0",
  effect: "external_side_effect",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  confirmationRequired: false,
  ...change,
});
const requirement = (approvals: readonly object[], change: Partial<DecidedTool> = {}) => {
  const policy = parseToolPolicy({ allowedTools: ["bank__pay"], approvals });
  if (!policy) throw new Error("the policy is not valid");
  return { decision: decide(policy, tool(change)), asked: requirementOf(policy, tool(change)) };
};
const CRITICAL = { sideEffectClass: "CRITICAL_MUTATION", confirmationRequired: true } as const;

describe("who is asked", () => {
  test("no one, where neither contract nor policy requires it", () => {
    expect(requirement([])).toEqual({ decision: "allow", asked: undefined });
    expect(requirement([{ pattern: "dual_control" }])).toEqual({
      decision: "allow",
      asked: undefined,
    });
  });

  test.each([
    ["its name", { tools: ["bank__pay"] }],
    ["its class", { classes: ["MEDIUM_RISK_WRITE"] }],
  ])("whom a rule says that names a tool by %s", (_, rule) => {
    const { decision, asked } = requirement([{ ...rule, pattern: "compliance" }]);
    expect([decision, asked]).toEqual(["require_approval", PATTERN_DEFAULTS.compliance]);
  });

  test("the approvers of the first rule that matches, with its settings", () => {
    const rules = [
      { tools: ["bank__other"], pattern: "compliance" },
      { pattern: "operator_review", required: 3, roles: ["lead"], ttlSeconds: 5 },
      { pattern: "dual_control" },
    ];
    expect(requirement(rules, { confirmationRequired: true }).asked).toEqual({
      ...PATTERN_DEFAULTS.operator_review,
      required: 3,
      roles: ["lead"],
      ttlSeconds: 5,
    });
  });

  test("the person themself, or two others where it is critical", () => {
    expect(requirement([], { confirmationRequired: true }).asked?.pattern).toBe("user_consent");
    expect(requirement([], CRITICAL).asked?.pattern).toBe("dual_control");
  });

  test("never the consent of one alone for what is critical", () => {
    const rules = [{ pattern: "user_consent" }];
    expect(requirement(rules, CRITICAL).asked?.pattern).toBe("dual_control");
  });
});

const NAMED = { tools: ["bank__pay"] };
const WEAK = { pattern: "dual_control", required: 1, roles: [], excludeRequester: false };

describe("a critical mutation whose rule is too weak is denied", () => {
  test.each([
    ["one person without a role", { ...NAMED, pattern: "dual_control", required: 1, roles: [] }],
    ["the requester among two", { ...NAMED, pattern: "dual_control", excludeRequester: false }],
    ["the requester with a role", { ...NAMED, pattern: "compliance", excludeRequester: false }],
    ["the requester alone", { ...NAMED, pattern: "user_consent" }],
    ["a bulk decision", { ...NAMED, pattern: "async_review", required: 2 }],
    ["one person, by class", { ...WEAK, classes: ["CRITICAL_MUTATION"] }],
    ["one person, for every tool", WEAK],
  ])("%s", (_, rule) => {
    expect(requirement([rule], CRITICAL)).toEqual({ decision: "deny", asked: undefined });
    expect(requirement([rule]).decision).not.toBe("deny");
  });

  test.each([
    ["two people", { ...NAMED, pattern: "dual_control", roles: [] }],
    ["one person with a role", { ...NAMED, pattern: "operator_review" }],
    [
      "one person with another role",
      { ...NAMED, pattern: "dual_control", required: 1, roles: ["cfo"] },
    ],
  ])("but %s are enough", (_, rule) => {
    expect(requirement([rule], CRITICAL).decision).toBe("require_approval");
  });

  test("a bulk pattern for every tool does not speak of it", () => {
    const rules = [{ pattern: "async_review" }];
    expect(requirement(rules, CRITICAL).asked).toEqual(PATTERN_DEFAULTS.dual_control);
  });
});

const anyRequirement: fc.Arbitrary<ApprovalRequirement> = fc.record({
  pattern: fc.constantFrom(...APPROVAL_PATTERNS),
  required: fc.integer({ min: 1, max: 16 }),
  roles: fc.subarray(["operator", "approver", "compliance"]),
  excludesRequester: fc.boolean(),
  onlyRequester: fc.boolean(),
  needsReason: fc.boolean(),
  isBulk: fc.boolean(),
  ttlSeconds: fc.integer({ min: 1, max: 1_000 }),
});

test("combined requirements keep the name of the stricter pattern", () => {
  const { async_review: review, dual_control: dual } = PATTERN_DEFAULTS;
  expect(combineRequirements(dual, review).pattern).toBe("dual_control");
  expect(combineRequirements(review, dual).pattern).toBe("dual_control");
});

test("an approver who meets two combined requirements meets each of them", () => {
  const who = fc.record({
    actorId: fc.constantFrom("user:ann", "user:bob", "agent:x") as fc.Arbitrary<ActorId>,
    roles: fc.subarray(["operator", "approver", "compliance", "lead"]),
  });
  const reasons = fc.option(fc.constant("because"), { nil: undefined });
  const ann = "user:ann" as ActorId;
  fc.assert(
    fc.property(anyRequirement, anyRequirement, who, reasons, (a, b, decider, reason) => {
      const both = combineRequirements(a, b);
      const word = { decision: "approve" as const, ...(reason !== undefined && { reason }) };
      const meets = (one: ApprovalRequirement): boolean =>
        checkVote({ requester: ann, actorId: ann, requirement: one, votes: [] }, decider, word) ===
        undefined;
      if (meets(both)) expect([meets(a), meets(b)]).toEqual([true, true]);
      expect(both.required).toBe(Math.max(a.required, b.required));
      expect(both.ttlSeconds).toBe(Math.min(a.ttlSeconds, b.ttlSeconds));
      expect(both.isBulk).toBe(a.isBulk && b.isBulk);
    }),
  );
});
