import type { RateLimit, ReservationAnswer } from "../capabilities/budget-ledger.ts";
import {
  addAmounts,
  findExceeded,
  findExhausted,
  type Budget,
  type BudgetAmounts,
} from "../protocol/budget.ts";

import type { ToolInvocationRecord } from "../protocol/tool-invocation.ts";
import { operationIdOf } from "./invocation-ledger.ts";

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
 * Ownership: one per run. Contract: synchronous, so calls that run together cannot take the same rest.
 */
export class RunBudget {
  readonly #limits: BudgetAmounts;
  readonly #reserved = new Set<string>();
  readonly #starts = new Map<string, { readonly fromMs: number; readonly count: number }>();
  #spent: BudgetAmounts = {};
  #retriesLeft: number;

  constructor(limits: BudgetAmounts, maxRetries: number | undefined) {
    this.#limits = limits;
    this.#retriesLeft = maxRetries ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Takes what one operation needs, all or nothing.
   * Contract: an operation that has its place keeps it, and counts once, however often it asks.
   */
  reserve({ id, toolId, rateLimit, amounts, nowMs }: Start): NoRoom | undefined {
    if (this.#reserved.has(id)) return undefined;
    const budget = findExhausted(this.#limits, this.#spent, amounts);
    if (budget !== undefined) return { kind: "exhausted", budget };
    const windowMs = rateLimit.windowSeconds * 1_000;
    const known = this.#starts.get(toolId);
    const window = known && nowMs < known.fromMs + windowMs ? known : { fromMs: nowMs, count: 0 };
    if (window.count >= rateLimit.maxRequests) {
      return { kind: "rate_limited", retryAfterMs: window.fromMs + windowMs - nowMs };
    }
    this.#starts.set(toolId, { ...window, count: window.count + 1 });
    this.#reserved.add(id);
    this.spend(amounts);
    return undefined;
  }

  /**
   * Takes in what an operation used in an earlier life of the run.
   * Contract: the tool's own rate counts from the last operation, which may wait a little longer for it.
   */
  restore({ name, amounts, dispatches, askedAtMs, ...operation }: ToolInvocationRecord): void {
    for (let again = 1; again < dispatches; again++) this.takeRetry();
    if (!amounts) return;
    const { count } = this.#starts.get(name) ?? { count: 0 };
    this.#starts.set(name, { fromMs: askedAtMs, count: count + 1 });
    this.#reserved.add(operationIdOf(operation));
    this.spend(amounts);
  }

  /** Counts what was used without asking first. */
  spend(amounts: BudgetAmounts): void {
    this.#spent = addAmounts(this.#spent, amounts);
  }

  /** Names a budget that has nothing left of what is asked for. */
  findExhausted(amounts: BudgetAmounts): Budget | undefined {
    return findExhausted(this.#limits, this.#spent, amounts);
  }

  /** Names a budget that the run has passed under other limits, among those that `of` takes from. */
  findExceeded(limits: BudgetAmounts, of: BudgetAmounts): Budget | undefined {
    return findExceeded(limits, this.#spent, of);
  }

  takeRetry(): boolean {
    if (this.#retriesLeft <= 0) return false;
    this.#retriesLeft--;
    return true;
  }
}
