import { PATTERN_DEFAULTS, requirementsUnderBoth } from "../../protocol/approval/requirement.ts";
import type { ApprovalTerms } from "../../protocol/approval/terms.ts";
import { lowerLimits, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import {
  raisableUnderBoth,
  type BudgetRaise,
  type ExhaustedLimit,
} from "../../protocol/budget/raise.ts";
import { raisableOf, raiserOf } from "../../protocol/policy/budget-raise.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import { NO_BOUNDS } from "../approval/approval-terms.ts";

/** The policies that a call has to obey. */
export interface BothPolicies {
  /** The policy that the run pinned: its ceiling. */
  readonly pinned: ToolPolicy;
  readonly current: ToolPolicy;
}

/** What a limit without room is held against. */
export interface NeededRoom {
  /** What the person whose run it is set below the policy's limits. */
  readonly person: BudgetAmounts;
  readonly used: BudgetAmounts;
  readonly amounts: BudgetAmounts;
}

/** How long the person may take to raise a limit of their own. */
const OWN_TTL_SECONDS = 3_600;

/**
 * Plans the raise that gives a call room; undefined when no raise does that both policies allow. A
 * limit of the person is raised to that of the policies. Contract: pure.
 */
export function planRaise(
  { budget, source }: ExhaustedLimit,
  { person, used: { [budget]: used = 0 }, amounts: { [budget]: needs = 0 } }: NeededRoom,
  policies: BothPolicies,
): BudgetRaise | undefined {
  const { pinned, current } = policies;
  const limits = lowerLimits(limitsOf(pinned.budgets), limitsOf(current.budgets));
  const most = source === "person" ? limits : raisableOfBoth(policies);
  const { [budget]: limit = 0 } = source === "person" ? person : limits;
  const to = most[budget];
  const isEnough = to === undefined ? source === "person" : to >= used + needs;
  if (!isEnough) return undefined;
  return { budget, source, limit, used, needs, to: to ?? null, currency: pinned.currency };
}

/**
 * Tells who has to agree to a raise; undefined when the policies allow it no longer.
 * Contract: pure.
 */
export function raiseTerms(
  { budget, source, to }: BudgetRaise,
  policies: BothPolicies,
  toolVersion: string,
): ApprovalTerms | undefined {
  if (source === "person") {
    const own = { ...PATTERN_DEFAULTS.user_consent, ttlSeconds: OWN_TTL_SECONDS };
    return { toolVersion, requirements: [own], bounds: NO_BOUNDS };
  }
  const { [budget]: most = 0 } = raisableOfBoth(policies);
  if (to === null || most < to) return undefined;
  const { pinned, current } = policies;
  const requirements = requirementsUnderBoth(raiserOf(pinned), raiserOf(current));
  return { toolVersion, requirements, bounds: NO_BOUNDS };
}

function raisableOfBoth({ pinned, current }: BothPolicies): BudgetAmounts {
  return raisableUnderBoth(raisableOf(pinned), raisableOf(current));
}
