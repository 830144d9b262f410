import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isAtLeast,
  PATTERN_DEFAULTS,
  requirementsUnderBoth,
  type ApprovalRequirement,
} from "../../../src/protocol/approval/requirement.ts";
import { assignPeople } from "../../../src/protocol/approval/assign-people.ts";
import { countPeople, findUseless, isMet } from "../../../src/protocol/approval/count-people.ts";
import type { ApprovalVote } from "../../../src/protocol/approval/record.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import type { MovedMoney } from "../../../src/protocol/policy/approval-rule.ts";
import {
  isAllowed,
  requirementsOf,
  type DecidedCall,
} from "../../../src/protocol/policy/decide.ts";
import { parseToolPolicy } from "../../../src/protocol/policy/document.ts";

type Tool = DecidedCall["tool"] & { readonly moved?: MovedMoney };
const tool = (change: Partial<Tool> = {}): Tool => ({
  id: "bank__pay",
  version: "1.0.0",
  effect: "external_side_effect",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  confirmationRequired: false,
  ...change,
});
const requirement = (approvals: readonly object[], change: Partial<Tool> = {}) => {
  const policy = parseToolPolicy({ allowedTools: ["bank__pay"], approvals });
  if (!policy) throw new Error("the policy is not valid");
  const { moved = "none" } = change;
  const asked = requirementsOf(policy, { tool: tool(change), moved });
  return { isAllowed: isAllowed(policy, tool(change)), asked };
};
const CRITICAL = { sideEffectClass: "CRITICAL_MUTATION", confirmationRequired: true } as const;

describe("who is asked", () => {
  test("no one, where neither contract nor policy requires it", () => {
    expect(requirement([])).toEqual({ isAllowed: true, asked: [] });
    expect(requirement([{ pattern: "dual_control" }])).toEqual({ isAllowed: true, asked: [] });
  });

  test.each([
    ["its name", { tools: ["bank__pay"] }],
    ["its class", { classes: ["MEDIUM_RISK_WRITE"] }],
  ])("whom a rule says that names a tool by %s", (_, rule) => {
    const { asked } = requirement([{ ...rule, pattern: "compliance" }]);
    expect(asked).toEqual([PATTERN_DEFAULTS.compliance]);
  });

  test("the approvers of every rule that names the call, and of no other", () => {
    const rules = [
      { pattern: "operator_review" },
      { tools: ["bank__pay"], pattern: "dual_control" },
      { classes: ["MEDIUM_RISK_WRITE"], pattern: "compliance" },
      { tools: ["bank__other"], pattern: "operator_review" },
      { classes: ["MEDIUM_RISK_WRITE"], amount: { above: 100 }, pattern: "async_review" },
    ];
    const { dual_control, compliance, async_review } = PATTERN_DEFAULTS;
    expect(requirement(rules, { moved: 100 }).asked).toEqual([dual_control, compliance]);
    expect(requirement(rules, { moved: 100.01 }).asked).toEqual([
      dual_control,
      compliance,
      async_review,
    ]);
  });

  test.each<[MovedMoney, readonly string[]]>([
    [100, ["async_review"]],
    [100.000001, ["operator_review"]],
    ["unknown", ["async_review", "operator_review"]],
    ["none", []],
  ])("those of the amount %s, where rules name amounts alone", (moved, patterns) => {
    const rules = [
      { amount: { upTo: 100 }, pattern: "async_review" },
      { amount: { above: 100 }, pattern: "operator_review" },
    ];
    expect(requirement(rules, { moved }).asked.map(({ pattern }) => pattern)).toEqual(patterns);
  });

  test("those whose limit covers the amount", () => {
    const limits = { clerk: 1_000, controller: 50_000 };
    const rule = { ...NAMED, pattern: "operator_review", limits };
    const within = (moved: MovedMoney, change: object = {}) =>
      requirement([{ ...rule, ...change }], { moved }).asked.map((one) => one.withinLimit);
    expect(requirement([rule], { moved: 5 }).asked[0]?.roles).toEqual(["clerk", "controller"]);
    expect(within(1_000)).toEqual([["clerk", "controller"]]);
    expect(within(1_000.01)).toEqual([["controller"]]);
    expect(within(50_001)).toEqual([[]]);
    expect(within("unknown")).toEqual([[]]);
    expect(within("none")).toEqual([[]]);
    const byClass = { tools: undefined, classes: ["MEDIUM_RISK_WRITE"] };
    expect(within("none", byClass)).toEqual([["clerk", "controller"]]);
  });

  test("the approvers of the first other rule, with its settings, where no rule names it", () => {
    const rules = [
      { tools: ["bank__other"], pattern: "compliance" },
      { pattern: "operator_review", required: 3, roles: ["lead"], ttlSeconds: 5 },
      { pattern: "dual_control" },
    ];
    expect(requirement(rules, { confirmationRequired: true }).asked).toEqual([
      { ...PATTERN_DEFAULTS.operator_review, required: 3, roles: ["lead"], ttlSeconds: 5 },
    ]);
  });

  test("the person themself, or two others where it is critical", () => {
    expect(requirement([], { confirmationRequired: true }).asked[0]?.pattern).toBe("user_consent");
    expect(requirement([], CRITICAL).asked[0]?.pattern).toBe("dual_control");
  });

  test("never the consent of one alone for what is critical", () => {
    const rules = [{ pattern: "user_consent" }];
    expect(requirement(rules, CRITICAL).asked[0]?.pattern).toBe("dual_control");
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
    expect(requirement([rule], CRITICAL)).toEqual({ isAllowed: false, asked: [] });
    expect(requirement([rule]).isAllowed).toBe(true);
  });

  test.each([
    ["two people", { ...NAMED, pattern: "dual_control", roles: [] }],
    ["one person with a role", { ...NAMED, pattern: "operator_review" }],
    [
      "one person with another role",
      { ...NAMED, pattern: "dual_control", required: 1, roles: ["cfo"] },
    ],
  ])("but %s are enough", (_, rule) => {
    expect(requirement([rule], CRITICAL)).toMatchObject({ isAllowed: true, asked: [{}] });
  });

  test("a bulk pattern for every tool does not speak of it", () => {
    const rules = [{ pattern: "async_review" }];
    expect(requirement(rules, CRITICAL).asked).toEqual([PATTERN_DEFAULTS.dual_control]);
  });

  test("beside a rule that is enough, a weak one adds to it", () => {
    const rules = [
      { ...NAMED, pattern: "user_consent" },
      { classes: ["CRITICAL_MUTATION"], pattern: "dual_control" },
    ];
    const { user_consent, dual_control } = PATTERN_DEFAULTS;
    expect(requirement(rules, CRITICAL).asked).toEqual([user_consent, dual_control]);
  });

  test.each([
    ["below the threshold", [{ ...NAMED, amount: { above: 100 }, pattern: "dual_control" }]],
    ["above it", [{ ...NAMED, amount: { upTo: 100 }, pattern: "dual_control" }]],
    [
      "between two",
      [
        { ...NAMED, amount: { upTo: 100 }, pattern: "dual_control" },
        { ...NAMED, amount: { above: 200 }, pattern: "dual_control" },
      ],
    ],
  ])("for every amount, where the only rule for an amount %s is too weak", (_, strong) => {
    const rules = [...strong, { ...NAMED, pattern: "user_consent" }];
    expect(requirement(rules, CRITICAL).isAllowed).toBe(false);
    expect(requirement(strong, CRITICAL).isAllowed).toBe(true);
  });
});

const ROLES = ["operator", "approver", "compliance"];
const anyRequirement: fc.Arbitrary<ApprovalRequirement> = fc.record(
  {
    pattern: fc.constant("dual_control" as const),
    required: fc.integer({ min: 1, max: 2 }),
    roles: fc.subarray(ROLES),
    excludesRequester: fc.boolean(),
    onlyRequester: fc.boolean(),
    needsReason: fc.boolean(),
    isBulk: fc.boolean(),
    ttlSeconds: fc.integer({ min: 1, max: 2 }),
    withinLimit: fc.subarray(ROLES),
  },
  {
    requiredKeys: [
      "pattern",
      "required",
      "roles",
      "excludesRequester",
      "onlyRequester",
      "needsReason",
      "isBulk",
      "ttlSeconds",
    ],
  },
);
const someRequirements = fc.array(anyRequirement, { minLength: 1, maxLength: 3 });
const anyVotes: fc.Arbitrary<readonly ApprovalVote[]> = fc
  .array(
    fc.record({
      roles: fc.subarray(ROLES),
      reason: fc.option(fc.constant("because"), { nil: undefined }),
    }),
    { maxLength: 5 },
  )
  .map((people) =>
    people.map(({ roles, reason }, at): ApprovalVote => ({
      approverId: ["user:ann", "user:bob", "user:cat", "user:dan", "user:eve"][at] as ActorId,
      roles,
      decision: "approve",
      atMs: at,
      ...(reason !== undefined && { reason }),
    })),
  );
const askedFor = (requirements: readonly ApprovalRequirement[], votes: readonly ApprovalVote[]) => {
  const ann = "user:ann" as ActorId;
  return { requester: ann, actorId: ann, requirements, votes };
};
const meets = (requirements: readonly ApprovalRequirement[], votes: readonly ApprovalVote[]) =>
  isMet(askedFor(requirements, votes), votes);

test("votes meet what two policies ask together only when they meet each policy", () => {
  fc.assert(
    fc.property(someRequirements, someRequirements, anyVotes, (pinned, current, votes) => {
      const both = requirementsUnderBoth(pinned, current);
      if (meets(both, votes))
        expect([meets(pinned, votes), meets(current, votes)]).toEqual([true, true]);
      const least = (rules: readonly ApprovalRequirement[]) =>
        Math.min(...rules.map(({ ttlSeconds }) => ttlSeconds));
      expect(least(both)).toBe(Math.min(least(pinned), least(current)));
      expect(requirementsUnderBoth(pinned, pinned)).toEqual(pinned);
    }),
  );
});

test("a requirement that is at least as strict is never met by votes that miss the other", () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, anyVotes, (one, other, votes) => {
      fc.pre(isAtLeast(one, other));
      expect(meets([one], votes) && !meets([other], votes)).toBe(false);
    }),
  );
});

/** Tries every assignment of people to places. */
function mostAssigned(places: readonly number[], fits: readonly (readonly number[])[]): number {
  const [first, ...others] = fits;
  if (!first) return 0;
  const without = mostAssigned(places, others);
  const withFirst = first.flatMap((at) =>
    (places[at] ?? 0) > 0
      ? [
          1 +
            mostAssigned(
              places.map((free, index) => (index === at ? free - 1 : free)),
              others,
            ),
        ]
      : [],
  );
  return Math.max(without, ...withFirst);
}

test("as many people have a place as any assignment gives one, and nobody has two", () => {
  const places = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 });
  const fits = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 3 })), { maxLength: 6 });
  fc.assert(
    fc.property(places, fits, (free, people) => {
      const held = assignPeople(free, people);
      const sum = held.reduce((total, count) => total + count, 0);
      expect(sum).toBe(mostAssigned(free, people));
      expect(held.every((count, at) => count <= (free[at] ?? 0))).toBe(true);
    }),
  );
});

test("a vote is useless exactly when it fills no place that the others leave open", () => {
  fc.assert(
    fc.property(someRequirements, anyVotes, (requirements, votes) => {
      const [last, ...others] = votes.toReversed();
      fc.pre(last !== undefined);
      const sum = (some: readonly ApprovalVote[]) =>
        countPeople(askedFor(requirements, some)).reduce((total, count) => total + count, 0);
      const useless = findUseless(askedFor(requirements, others), last);
      expect(useless === undefined).toBe(sum([...others, last]) > sum(others));
    }),
  );
});
