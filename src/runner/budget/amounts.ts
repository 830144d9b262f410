import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { callBudgetOf, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { toMillionths } from "../../protocol/budget/millionths.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { failCall } from "../tool-failure.ts";

/** Counts what one call takes: itself, what it costs, and the money it moves. Fails: OUT_OF_BOUNDS. */
export function amountsOf(
  tool: BoundToolRuntime,
  args: JsonObject,
): Result<BudgetAmounts, ToolFailure> {
  const moved = tool.amountField === undefined ? 0 : readAmount(args, tool.amountField);
  if (moved === undefined) {
    const message = "expected an amount of money, not negative and no larger than can be counted";
    const errors = [{ field: tool.amountField ?? null, code: "not_an_amount", message }];
    return fail({ taxonomyClass: "OUT_OF_BOUNDS", errors });
  }
  const { perCall } = tool.cost;
  return ok({
    [callBudgetOf(tool.sideEffectClass)]: 1,
    ...(perCall > 0 && { cost: toMillionths(perCall) }),
    ...(moved > 0 && { financial: toMillionths(moved) }),
  });
}

/**
 * Holds a call that takes money against the currency of a policy: a limit in one says nothing about
 * money in another. Fails: POLICY_VIOLATION.
 */
export function checkCurrency(
  { cost: { currency } }: BoundToolRuntime,
  policy: ToolPolicy,
  { cost = 0, financial = 0 }: BudgetAmounts,
): Result<null, ToolFailure> {
  if (currency === policy.currency || (cost === 0 && financial === 0)) return ok(null);
  const message = `policy counts money in ${policy.currency}, this tool in ${currency}`;
  return failCall("POLICY_VIOLATION", { code: "other_currency", message });
}

/** Reads the number that a pointer of the contract names; a field that is left out moves nothing. */
function readAmount(args: JsonObject, pointer: string): number | undefined {
  let value: unknown = args;
  for (const key of fromPointer(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return 0;
    value = (value as JsonObject)[key];
  }
  if (typeof value !== "number" || value < 0) return undefined;
  return Number.isSafeInteger(toMillionths(value)) ? value : undefined;
}
