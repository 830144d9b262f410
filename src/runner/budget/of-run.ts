import type { RateLimit, ReservationAnswer } from "../../capabilities/budget.ts";
import {
  findExceeded,
  findExhausted,
  isSameAmounts,
  replaceAmounts,
  type Budget,
  type BudgetAmounts,
} from "../../protocol/budget/amounts.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { operationIdOf } from "../invocation-ledger.ts";

/** One operation that is about to start. Unit: nowMs in Unix milliseconds. */
export interface Start {
  readonly id: string;
  readonly toolId: string;
  /** The tool's own. */
  readonly rateLimit: RateLimit;
  readonly amounts: BudgetAmounts;
  readonly nowMs: number;
}

/** Why there is no room for an operation. */
export type NoRoom = Extract<ReservationAnswer, { readonly kind: "exhausted" | "rate_limited" }>;

/**
 * What one run has used up.
 * Ownership: one per run. Contract: synchronous, so calls that run together cannot take the same
 * rest.
 */
export class RunBudget {
  readonly #limits: BudgetAmounts;
  readonly #reserved = new Map<string, BudgetAmounts>();
  readonly #starts = new Map<string, { readonly fromMs: number; readonly count: number }>();
  #spent: BudgetAmounts = {};
  #retriesLeft: number;

  constructor(limits: BudgetAmounts, maxRetries: number | undefined) {
    this.#limits = limits;
    this.#retriesLeft = maxRetries ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Takes what one operation needs, all or nothing.
   * Contract: an operation that has its place keeps it, and counts once, however often it asks;
   * with other amounts, which a person gave it meanwhile, it asks anew.
   */
  reserve({ id, toolId, rateLimit, amounts, nowMs }: Start): NoRoom | undefined {
    const before = this.#reserved.get(id);
    if (before && isSameAmounts(before, amounts)) return undefined;
    const others = replaceAmounts(this.#spent, before ?? {}, {});
    const budget = findExhausted(this.#limits, others, amounts);
    if (budget !== undefined) return { kind: "exhausted", budget };
    if (before) return this.#take(id, amounts, before);
    const windowMs = rateLimit.windowSeconds * 1_000;
    const known = this.#starts.get(toolId);
    const window = known && nowMs < known.fromMs + windowMs ? known : { fromMs: nowMs, count: 0 };
    if (window.count >= rateLimit.maxRequests) {
      return { kind: "rate_limited", retryAfterMs: window.fromMs + windowMs - nowMs };
    }
    this.#starts.set(toolId, { ...window, count: window.count + 1 });
    return this.#take(id, amounts);
  }

  /**
   * Takes in what an operation used in an earlier life of the run.
   * Contract: the tool's own rate counts from the last operation, which may wait a little longer
   * for it.
   */
  restore(record: ToolInvocationRecord): void {
    const { name, amounts, dispatches, askedAtMs, end } = record;
    for (let again = 1; again < dispatches; again++) this.takeRetry();
    if (!amounts) return;
    const { count } = this.#starts.get(name) ?? { count: 0 };
    this.#starts.set(name, { fromMs: askedAtMs, count: count + 1 });
    if (end && dispatches === 0) return;
    this.#reserved.set(operationIdOf(record), amounts);
    this.spend(amounts);
  }

  /**
   * Gives back what an operation took that did not start. The tool's own rate has counted it all
   * the same.
   */
  release(id: string): void {
    this.spend({}, this.#reserved.get(id));
    this.#reserved.delete(id);
  }

  /** Counts what was used, in place of what was counted for it before. */
  spend(amounts: BudgetAmounts, instead: BudgetAmounts = {}): void {
    this.#spent = replaceAmounts(this.#spent, instead, amounts);
  }

  get spent(): BudgetAmounts {
    return this.#spent;
  }

  /** Tells how much is left; infinity where there is no limit. */
  left(budget: Budget): number {
    return (this.#limits[budget] ?? Number.POSITIVE_INFINITY) - (this.#spent[budget] ?? 0);
  }

  /**
   * Names a budget that the run has passed under other limits, among those that `of` takes from.
   */
  findExceeded(limits: BudgetAmounts, of: BudgetAmounts): Budget | undefined {
    return findExceeded(limits, this.#spent, of);
  }

  #take(id: string, amounts: BudgetAmounts, before?: BudgetAmounts): undefined {
    this.#reserved.set(id, amounts);
    this.spend(amounts, before);
  }

  takeRetry(): boolean {
    if (this.#retriesLeft <= 0) return false;
    this.#retriesLeft--;
    return true;
  }
}

/** Builds a run's budget, with what its calls so far have used up. */
export function restoreRunBudget(
  invocations: readonly ToolInvocationRecord[],
  { budgets }: Pick<ToolPolicy, "budgets">,
): RunBudget {
  const budget = new RunBudget(limitsOf(budgets), budgets.maxRetries);
  for (const record of invocations) budget.restore(record);
  return budget;
}
