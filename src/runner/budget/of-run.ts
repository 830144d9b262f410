import type { RateLimit, ReservationAnswer } from "../../capabilities/budget.ts";
import {
  isSameAmounts,
  replaceAmounts,
  type Budget,
  type BudgetAmounts,
} from "../../protocol/budget/amounts.ts";
import {
  findExceeded,
  findOutOfReach,
  leftOf,
  type AskedRaise,
  type ExhaustedLimit,
  type RaisableLimits,
} from "../../protocol/budget/raise.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { raisableLimitsOf, type RaisingPolicy } from "../../protocol/policy/budget-raise.ts";
import { operationIdOf } from "../invocation/invocation-ledger.ts";

/** One operation that is about to start. Unit: nowMs in Unix milliseconds. */
export interface Start {
  readonly id: string;
  readonly toolId: string;
  /** The tool's own. */
  readonly rateLimit: RateLimit;
  readonly amounts: BudgetAmounts;
  readonly nowMs: number;
}

/** What a limit is held against. */
type Operation = Pick<Start, "id" | "amounts">;

/** The calls of one tool since its rate window began. Unit: fromMs in Unix milliseconds. */
interface RateWindow {
  readonly fromMs: number;
  readonly count: number;
}

/** What limits one run. */
export interface LimitsOfRun {
  /** The policy that the run pinned. */
  readonly policy: RaisingPolicy;
  /** What the person whose run it is set below the policy's limits. */
  readonly person?: BudgetAmounts | undefined;
  /** Reads the raises that people were asked for so far. */
  readonly raises?: () => readonly AskedRaise[];
}

/** Why an operation gets no reservation. */
export type NoRoom = Extract<
  ReservationAnswer,
  { readonly kind: "exhausted" | "capped" | "rate_limited" }
>;

/**
 * Counts what one run has used of its budgets.
 * Ownership: one per run. Contract: synchronous, so parallel calls cannot reserve the same
 * remainder.
 */
export class RunBudget {
  readonly #limits: LimitsOfRun;
  readonly #reserved = new Map<string, BudgetAmounts>();
  readonly #starts = new Map<string, RateWindow>();
  #spent: BudgetAmounts = {};
  #retriesLeft: number;

  constructor(limits: LimitsOfRun) {
    this.#limits = limits;
    this.#retriesLeft = limits.policy.budgets.maxRetries ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Reserves what one operation needs, all or nothing.
   * Contract: an operation counts once, however often it asks. With other amounts, after an
   * approver's edit, its reservation is replaced.
   */
  reserve(start: Start): NoRoom | undefined {
    const { id, toolId, amounts } = start;
    const before = this.#reserved.get(id);
    if (before && isSameAmounts(before, amounts)) return undefined;
    const exhausted = this.findExhausted(this.#limits.policy, start);
    if (exhausted) return { kind: "exhausted", budget: exhausted.budget };
    const noRoom = this.#findTooFast(start);
    if (noRoom) return noRoom;
    if (!before) {
      const { fromMs, count } = this.#windowOf(start);
      this.#starts.set(toolId, { fromMs, count: count + 1 });
    }
    this.#reserved.set(id, amounts);
    this.spend(amounts, before);
    return undefined;
  }

  /**
   * Tells why an operation would get no reservation now, not even after a raise that people may
   * still be asked for. Contract: takes nothing.
   */
  findNoRoom(start: Start): NoRoom | undefined {
    const exhausted = this.findOutOfReach(this.#limits.policy, start);
    if (exhausted) return { kind: "exhausted", budget: exhausted.budget };
    return this.#findTooFast(start);
  }

  #findTooFast(start: Start): NoRoom | undefined {
    const { rateLimit, nowMs } = start;
    const { fromMs, count } = this.#windowOf(start);
    if (this.#reserved.has(start.id) || count < rateLimit.maxRequests) return undefined;
    return {
      kind: "rate_limited",
      retryAfterMs: fromMs + rateLimit.windowSeconds * 1_000 - nowMs,
    };
  }

  #windowOf({ toolId, rateLimit: { windowSeconds }, nowMs }: Start): RateWindow {
    const known = this.#starts.get(toolId);
    const isOpen = known !== undefined && nowMs < known.fromMs + windowSeconds * 1_000;
    return isOpen ? known : { fromMs: nowMs, count: 0 };
  }

  /**
   * Counts what an operation used in an earlier incarnation of the run.
   * Contract: the tool's own rate window starts again at the last operation, so it may last longer.
   */
  restore(record: ToolInvocationRecord): void {
    const { name, amounts, dispatches, askedAtMs, end } = record;
    for (let again = 1; again < dispatches; again++) this.takeRetry();
    if (!amounts) return;
    const { count } = this.#starts.get(name) ?? { count: 0 };
    this.#starts.set(name, { fromMs: askedAtMs, count: count + 1 });
    if (end && dispatches === 0) return;
    const used = end?.used ?? amounts;
    this.#reserved.set(operationIdOf(record), used);
    this.spend(used);
  }

  /** Counts what an operation used, instead of what it reserved. */
  settle(id: string, used: BudgetAmounts): void {
    this.spend(used, this.#reserved.get(id));
    this.#reserved.set(id, used);
  }

  /**
   * Releases the reservation of an operation that did not start. The tool's own rate still counts
   * it.
   */
  release(id: string): void {
    this.spend({}, this.#reserved.get(id));
    this.#reserved.delete(id);
  }

  /** Counts amounts, instead of amounts that were counted before. */
  spend(amounts: BudgetAmounts, instead: BudgetAmounts = {}): void {
    this.#spent = replaceAmounts(this.#spent, instead, amounts);
  }

  get spent(): BudgetAmounts {
    return this.#spent;
  }

  /** Tells how much is left; infinity where there is no limit. */
  left(budget: Budget): number {
    return leftOf(budget, this.#limitsUnder(this.#limits.policy), this.#spent);
  }

  /**
   * Finds a limit that an operation would exceed under a policy. What the operation itself reserved
   * before does not count. Contract: takes nothing.
   */
  findExhausted(policy: RaisingPolicy, operation: Operation): ExhaustedLimit | undefined {
    const limits = this.#limitsUnder(policy);
    return findExceeded(limits, this.usedByOthers(operation), operation.amounts);
  }

  /** Likewise, as if people granted every raise that they may still be asked for. */
  findOutOfReach(policy: RaisingPolicy, operation: Operation): ExhaustedLimit | undefined {
    const limits = this.#limitsUnder(policy);
    return findOutOfReach(limits, this.usedByOthers(operation), operation.amounts);
  }

  /** What the other operations of the run have used or reserved. */
  usedByOthers({ id }: Pick<Operation, "id">): BudgetAmounts {
    return replaceAmounts(this.#spent, this.#reserved.get(id) ?? {}, {});
  }

  /** What the person whose run it is set below the policy's limits. */
  get ownLimits(): BudgetAmounts {
    return this.#limits.person ?? {};
  }

  #limitsUnder(policy: RaisingPolicy): RaisableLimits {
    const { person = {}, raises } = this.#limits;
    const isRaisable = policy.budgetRaises !== undefined || this.#limits.person !== undefined;
    return raisableLimitsOf(policy, { person, asked: (isRaisable && raises?.()) || [] });
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
  limits: LimitsOfRun,
): RunBudget {
  const budget = new RunBudget(limits);
  for (const record of invocations) budget.restore(record);
  return budget;
}
