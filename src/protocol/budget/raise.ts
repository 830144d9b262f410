import { BUDGETS, findExhausted, lowerLimits, type Budget, type BudgetAmounts } from "./amounts.ts";

/** Who set a limit of a run: the policy of the tenant, or the person whose run it is. */
export type LimitSource = "policy" | "person";

/**
 * One limit of a run that people are asked to raise, as the call that needs it found it. Units of
 * the amounts: those of Budget.
 */
export type BudgetRaise = {
  readonly budget: Budget;
  readonly source: LimitSource;
  readonly limit: number;
  /** What the other calls of the run have used or reserved. */
  readonly used: number;
  readonly needs: number;
  /** The limit after the raise. Null: the person's own limit is lifted, and the policy has none. */
  readonly to: number | null;
  /** ISO 4217, for money. */
  readonly currency: string;
};

/** A raise that people were asked for. */
export interface AskedRaise {
  readonly raise: BudgetRaise;
  /** `refused`: somebody refused it, or nobody answered in time. */
  readonly state: "open" | "granted" | "refused";
}

/** The limits of one run, by who set them, and what people were asked to raise. */
export interface RaisableLimits {
  readonly policy: BudgetAmounts;
  /** How far the policy lets somebody raise each of its limits; absent: not at all. */
  readonly upTo: BudgetAmounts;
  readonly person: BudgetAmounts;
  readonly asked: readonly AskedRaise[];
}

/** A limit without room for a call. */
export interface ExhaustedLimit {
  readonly budget: Budget;
  readonly source: LimitSource;
}

/**
 * Finds a limit that a call exceeds; the person's own comes first, because it is the lower one.
 * Contract: pure. A granted raise counts up to what the policy allows now.
 */
export function findExceeded(
  limits: RaisableLimits,
  spent: BudgetAmounts,
  amounts: BudgetAmounts,
): ExhaustedLimit | undefined {
  return findOver(limitsWith(limits, isGranted), spent, amounts);
}

/**
 * Finds a limit that a call exceeds although people grant every raise that they may still be asked
 * for. Contract: pure.
 */
export function findOutOfReach(
  limits: RaisableLimits,
  spent: BudgetAmounts,
  amounts: BudgetAmounts,
): ExhaustedLimit | undefined {
  return findOver(limitsWith(limits, isNotRefused), spent, amounts);
}

/** Tells how much of a budget is left; infinity where nothing limits it. Contract: pure. */
export function leftOf(budget: Budget, limits: RaisableLimits, spent: BudgetAmounts): number {
  const now = limitsWith(limits, isGranted);
  const most = Math.min(now.policy[budget] ?? Infinity, now.person[budget] ?? Infinity);
  return most - (spent[budget] ?? 0);
}

/** Joins what two policies allow: of a limit that either does not let anybody raise, nothing. */
export function raisableUnderBoth(one: BudgetAmounts, other: BudgetAmounts): BudgetAmounts {
  const both = lowerLimits(one, other);
  return Object.fromEntries(Object.entries(both).filter(([name]) => name in one && name in other));
}

/** Which raises count. Undefined: nobody was asked for it yet. */
type Counts = (state: AskedRaise["state"] | undefined) => boolean;
const isGranted: Counts = (state) => state === "granted";
const isNotRefused: Counts = (state) => state !== "refused";

function limitsWith(
  { policy, upTo, person, asked }: RaisableLimits,
  counts: Counts,
): Readonly<Record<LimitSource, BudgetAmounts>> {
  const stateOf = (budget: Budget, source: LimitSource): AskedRaise["state"] | undefined =>
    asked.findLast(({ raise }) => raise.budget === budget && raise.source === source)?.state;
  const raised: { [B in Budget]?: number } = { ...policy };
  const own: { [B in Budget]?: number } = { ...person };
  for (const budget of BUDGETS) {
    const [limit, most] = [policy[budget], upTo[budget]];
    const state = stateOf(budget, "policy");
    if (limit !== undefined && most !== undefined && counts(state)) {
      raised[budget] = Math.max(limit, Math.min(most, grantedTo(asked, budget) ?? most));
    }
    if (counts(stateOf(budget, "person"))) delete own[budget];
  }
  return { policy: raised, person: own };
}

function grantedTo(asked: readonly AskedRaise[], of: Budget): number | undefined {
  const granted = asked.find(
    ({ raise, state }) => state === "granted" && raise.source === "policy" && raise.budget === of,
  );
  return granted?.raise.to ?? undefined;
}

function findOver(
  limits: Readonly<Record<LimitSource, BudgetAmounts>>,
  spent: BudgetAmounts,
  amounts: BudgetAmounts,
): ExhaustedLimit | undefined {
  for (const source of ["person", "policy"] as const) {
    const budget = findExhausted(limits[source], spent, amounts);
    if (budget !== undefined) return { budget, source };
  }
  return undefined;
}
