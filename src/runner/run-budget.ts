import type { RateLimit } from "../capabilities/budget-ledger.ts";
import { addAmounts, findExhausted, type Budget, type BudgetAmounts } from "../protocol/budget.ts";

/**
 * What one run has used up.
 * Ownership: one per run. Contract: a reservation counts once, however often it is asked for.
 */
export class RunBudget {
  readonly #limits: BudgetAmounts;
  readonly #reserved = new Set<string>();
  readonly #starts = new Map<string, { fromMs: number; count: number }>();
  #spent: BudgetAmounts = {};
  #retriesLeft: number;

  constructor(limits: BudgetAmounts, maxRetries: number | undefined) {
    this.#limits = limits;
    this.#retriesLeft = maxRetries ?? Number.POSITIVE_INFINITY;
  }

  /** Takes amounts for one operation, all or nothing; answers the budget that would not hold. */
  reserve(id: string, amounts: BudgetAmounts): Budget | undefined {
    if (this.#reserved.has(id)) return undefined;
    const exhausted = findExhausted(this.#limits, this.#spent, amounts);
    if (exhausted !== undefined) return exhausted;
    this.#reserved.add(id);
    this.spend(amounts);
    return undefined;
  }

  /** Counts what was used without asking first. */
  spend(amounts: BudgetAmounts): void {
    this.#spent = addAmounts(this.#spent, amounts);
  }

  /** Names a budget that has nothing left of what is asked for. */
  findExhausted(amounts: BudgetAmounts): Budget | undefined {
    return findExhausted(this.#limits, this.#spent, amounts);
  }

  takeRetry(): boolean {
    if (this.#retriesLeft <= 0) return false;
    this.#retriesLeft--;
    return true;
  }

  /** Counts a start against a tool's own limit; answers how long to wait when there were too many. */
  countStart(toolId: string, limit: RateLimit, nowMs: number): number | undefined {
    const windowMs = limit.windowSeconds * 1_000;
    const known = this.#starts.get(toolId);
    const window = known && nowMs < known.fromMs + windowMs ? known : { fromMs: nowMs, count: 0 };
    if (window.count >= limit.maxRequests) return window.fromMs + windowMs - nowMs;
    window.count++;
    this.#starts.set(toolId, window);
    return undefined;
  }
}
