import type { Budget } from "../budget/amounts.ts";
import type { BudgetRaise } from "../budget/raise.ts";

/** What each budget limits, in words. */
export const LIMITED: { readonly [B in Budget]: string } = {
  reads: "calls that only read",
  writes: "calls that write within the deployment",
  external: "calls of class HIGH_RISK_EXTERNAL",
  critical: "calls of class CRITICAL_MUTATION",
  financial: "money that calls move",
  cost: "money that calls cost",
  tokens: "tokens of model calls",
};

/** Writes what a raise would change, in one sentence. Contract: pure. */
export function describeRaise({
  budget,
  source,
  limit,
  used,
  needs,
  to,
  currency,
}: BudgetRaise): string {
  const show = (amount: number): string => formatAmount(budget, amount, currency);
  const whose = source === "person" ? "the limit that you set" : "the limit of this run";
  const after = to === null ? "no limit" : show(to);
  return (
    `${whose} for ${LIMITED[budget]}, from ${show(limit)} to ${after}; ` +
    `${show(used)} used so far, this call needs ${show(needs)}`
  );
}

function formatAmount(budget: Budget, amount: number, currency: string): string {
  const isMoney = budget === "financial" || budget === "cost";
  return isMoney ? `${amount / 1_000_000} ${currency}` : String(amount);
}
