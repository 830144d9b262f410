import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { callBudgetOf, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import { toMillionths } from "../../protocol/budget/millionths.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { RunBudget } from "../budget/of-run.ts";
import { operationIdOf } from "../invocation-ledger.ts";
import { failCall, refuseExhausted } from "../tool-failure.ts";
import type { Gate } from "./gate.ts";
import type { PolicySubject } from "./subjects.ts";

export interface CeilingPorts {
  readonly budget: Pick<RunBudget, "findExhausted">;
}

/**
 * The gate `ceilings`: counts what the call takes, and checks that the policy counts money in
 * the tool's currency and that the call stays within the policy's limits of the run. It reserves
 * nothing, so parallel calls may pass together; the gate `budget` reserves.
 * Fails: OUT_OF_BOUNDS for an amount that cannot be counted; POLICY_VIOLATION; BUDGET_EXHAUSTED.
 */
export const checkCeilings: Gate<PolicySubject, CeilingPorts> = {
  name: "ceilings",
  check({ terms, tool, args, operation }, { budget }) {
    const counted = countAmounts(tool, args);
    if (!counted.ok) return counted;
    const amounts = counted.value;
    const countable = checkCurrency(tool, terms.policy, amounts);
    if (!countable.ok) return countable;
    const id = operationIdOf(operation);
    const exhausted = budget.findExhausted(limitsOf(terms.policy.budgets), { id, amounts });
    return exhausted === undefined ? ok({ amounts }) : refuseExhausted("run", exhausted);
  },
};

/**
 * Counts what one call takes: itself, its own cost, and the money it moves. Fails: OUT_OF_BOUNDS.
 */
function countAmounts(
  tool: BoundToolRuntime,
  args: JsonObject,
): Result<BudgetAmounts, ToolFailure> {
  const moved = tool.amountField === undefined ? 0 : readAmount(args, tool.amountField);
  if (moved === undefined) {
    const message = "expected an amount of money, not negative and no larger than can be counted";
    const errors = [{ field: tool.amountField ?? null, code: "not_an_amount", message }];
    return fail({ taxonomyClass: "OUT_OF_BOUNDS", errors });
  }
  // The steps of a saga count themselves.
  if (tool.saga) return ok({});
  const { perCall } = tool.cost;
  return ok({
    [callBudgetOf(tool.sideEffectClass)]: 1,
    ...(perCall > 0 && { cost: toMillionths(perCall) }),
    ...(moved > 0 && { financial: toMillionths(moved) }),
  });
}

/** A limit in one currency says nothing about money in another. */
function checkCurrency(
  { cost: { currency } }: BoundToolRuntime,
  policy: ToolPolicy,
  { cost = 0, financial = 0 }: BudgetAmounts,
): Result<null, ToolFailure> {
  if (currency === policy.currency || (cost === 0 && financial === 0)) return ok(null);
  const message = `policy counts money in ${policy.currency}, this tool in ${currency}`;
  return failCall("POLICY_VIOLATION", { code: "other_currency", message });
}

/** Reads the number that the contract's pointer names; a field that is left out moves nothing. */
function readAmount(args: JsonObject, pointer: string): number | undefined {
  let value: unknown = args;
  for (const key of fromPointer(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return 0;
    value = (value as JsonObject)[key];
  }
  if (typeof value !== "number" || value < 0) return undefined;
  return Number.isSafeInteger(toMillionths(value)) ? value : undefined;
}
