import type { SideEffectClass } from "../tool/effect.ts";

/**
 * Budgets of a run or a tenant (seeds/004, "Side-Effect and Loop Budgets"). Units: calls for the
 * first four; millionths of the policy's currency for `financial` and `cost`; tokens for `tokens`.
 * `financial` is money that calls move. `cost` is money that the calls themselves cost.
 */
export const BUDGETS = [
  "reads",
  "writes",
  "external",
  "critical",
  "financial",
  "cost",
  "tokens",
] as const;
export type Budget = (typeof BUDGETS)[number];

/**
 * Amounts by budget. An absent amount means zero when it is spending, and no limit when it is a
 * limit.
 */
export type BudgetAmounts = { readonly [B in Budget]?: number };

const CALL_BUDGETS: { readonly [Class in SideEffectClass]: Budget } = {
  READ_ONLY: "reads",
  EPHEMERAL_WRITE: "writes",
  LOW_RISK_INTERNAL: "writes",
  MEDIUM_RISK_WRITE: "writes",
  HIGH_RISK_EXTERNAL: "external",
  CRITICAL_MUTATION: "critical",
};

/** Names the budget from which a call of this class takes one unit. */
export function callBudgetOf(sideEffectClass: SideEffectClass): Budget {
  return CALL_BUDGETS[sideEffectClass];
}

/** Tells whether all amounts are whole, not negative and exact as numbers. */
export function areCountable(amounts: BudgetAmounts): boolean {
  return BUDGETS.every((budget) => isCount(amounts[budget] ?? 0));
}

function isCount(amount: number): boolean {
  return Number.isSafeInteger(amount) && amount >= 0;
}

export function isSameAmounts(a: BudgetAmounts, b: BudgetAmounts): boolean {
  return BUDGETS.every((budget) => (a[budget] ?? 0) === (b[budget] ?? 0));
}

/** Names the first budget that `spent` plus `more` would exceed; undefined when none. */
export function findExhausted(
  limits: BudgetAmounts,
  spent: BudgetAmounts,
  more: BudgetAmounts,
): Budget | undefined {
  return BUDGETS.find((budget) => {
    const limit = limits[budget];
    const wanted = more[budget] ?? 0;
    return limit !== undefined && wanted > 0 && (spent[budget] ?? 0) + wanted > limit;
  });
}

/** Takes the lower of two limits for each budget. */
export function lowerLimits(a: BudgetAmounts, b: BudgetAmounts): BudgetAmounts {
  const lower: { [B in Budget]?: number } = { ...a };
  for (const budget of BUDGETS) {
    const limit = b[budget];
    if (limit !== undefined) lower[budget] = Math.min(lower[budget] ?? limit, limit);
  }
  return lower;
}

/**
 * Subtracts `less` from the spent amounts and adds `more`.
 * Contract: pure; results stay between 0 and the largest exact number.
 */
export function replaceAmounts(
  spent: BudgetAmounts,
  less: BudgetAmounts,
  more: BudgetAmounts,
): BudgetAmounts {
  const now: { [B in Budget]?: number } = { ...spent };
  for (const budget of BUDGETS) {
    const change = (more[budget] ?? 0) - (less[budget] ?? 0);
    if (change === 0) continue;
    const sum = (spent[budget] ?? 0) + change;
    now[budget] = Math.min(Math.max(sum, 0), Number.MAX_SAFE_INTEGER);
  }
  return now;
}

/**
 * Grants as much of each amount as its limit leaves, and at least `least`.
 * Contract: pure; the caller has checked that `least` fits.
 */
export function grantWithin(
  limits: BudgetAmounts,
  spent: BudgetAmounts,
  { amounts, least }: { readonly amounts: BudgetAmounts; readonly least: BudgetAmounts },
): BudgetAmounts {
  const granted: { [B in Budget]?: number } = {};
  for (const budget of BUDGETS) {
    const amount = amounts[budget];
    if (amount === undefined) continue;
    const left = (limits[budget] ?? Number.POSITIVE_INFINITY) - (spent[budget] ?? 0);
    granted[budget] = Math.min(amount, Math.max(least[budget] ?? amount, left));
  }
  return granted;
}

/** Caps each amount at the same budget in `most`. A budget absent from `most` is capped at zero. */
export function capAmounts(amounts: BudgetAmounts, most: BudgetAmounts): BudgetAmounts {
  const capped: { [B in Budget]?: number } = {};
  for (const budget of BUDGETS) {
    const amount = amounts[budget];
    if (amount !== undefined) capped[budget] = Math.min(amount, most[budget] ?? 0);
  }
  return capped;
}
