import * as v from "valibot";
import { PATTERN_DEFAULTS, type ApprovalRequirement } from "../approval/requirement.ts";
import type { BudgetAmounts } from "../budget/amounts.ts";
import type { RaisableLimits } from "../budget/raise.ts";
import { listOf, name } from "./fields.ts";
import { amountsOf, callLimits, limitsOf, type RunLimits } from "./limits.ts";

const HOUR_SECONDS = 3_600;

/** Accepts how far people may raise the limits of a run, and who may. See docs/policy.md. */
export const budgetRaises = v.strictObject({
  /** The limits of `budgets` after a raise. A limit that is absent stays as it is. */
  upTo: callLimits,
  /** Whoever raises needs one of them, and is not the person whose run it is. */
  roles: v.optional(v.pipe(listOf(name), v.minLength(1)), ["operator"]),
  /** Time to decide: a minute to 30 days. */
  ttlSeconds: v.optional(
    v.pipe(v.number(), v.safeInteger(), v.minValue(60), v.maxValue(30 * 24 * HOUR_SECONDS)),
    HOUR_SECONDS,
  ),
});

/** What a policy says of the limits of a run. */
export interface RaisingPolicy {
  readonly budgets: RunLimits;
  readonly budgetRaises?: v.InferOutput<typeof budgetRaises> | undefined;
}

/** Reads the limits of a run under one policy. */
export function raisableLimitsOf(
  policy: RaisingPolicy,
  own: Pick<RaisableLimits, "person" | "asked">,
): RaisableLimits {
  return { policy: limitsOf(policy.budgets), upTo: raisableOf(policy), ...own };
}

/** How far one policy lets people raise the limits of a run. */
export function raisableOf({ budgetRaises: raises }: RaisingPolicy): BudgetAmounts {
  return raises ? amountsOf(raises.upTo) : {};
}

/** Who has to agree to a raise under a policy: one person with a role, who is not the requester. */
export function raiserOf({ budgetRaises: raises }: RaisingPolicy): readonly ApprovalRequirement[] {
  if (!raises) return [];
  const { roles, ttlSeconds } = raises;
  return [{ ...PATTERN_DEFAULTS.operator_review, roles, ttlSeconds }];
}
