import { failCall, failField } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ShownStates } from "../../protocol/approval/packet.ts";
import { callBudgetOf, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import { mostCost } from "../../protocol/budget/cost-of-call.ts";
import { toMillionths } from "../../protocol/budget/millionths.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { rolesWithin } from "../../protocol/policy/approval-rule.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { readAmount, readMoved, type AmountSource } from "../../protocol/tool/amount-field.ts";
import type { RunBudget } from "../budget/of-run.ts";
import { operationIdOf } from "../invocation/invocation-ledger.ts";
import { refuseExhausted } from "../outcome/tool-failure.ts";
import type { Gate } from "./gate.ts";
import type { PolicySubject } from "./subjects.ts";

export interface CeilingPorts {
  readonly principal: Pick<Principal, "roles">;
  readonly budget: Pick<RunBudget, "findOutOfReach">;
}

/**
 * The gate `ceilings`: counts what the call takes, and checks that the policy counts money in the
 * tool's currency and that the call stays within the policy's limits of the run, as far as people
 * may raise them. It reserves nothing, so parallel calls may pass together; the gate `budget` asks
 * for a raise, and reserves. The money that the call moves must be within the limit of one of the
 * caller's roles, where policy has such limits. An amount that the target's state holds counts once
 * that state is read.
 * Fails: OUT_OF_BOUNDS or DEPENDENCY_UNAVAILABLE for an amount that cannot be counted;
 * POLICY_VIOLATION; PERMISSION_DENIED; BUDGET_EXHAUSTED.
 */
export const checkCeilings: Gate<PolicySubject, CeilingPorts> = {
  name: "ceilings",
  check({ terms, tool, args, operation, previewed }, { budget, principal }) {
    const counted = countAmounts(tool, args, previewed);
    if (!counted.ok) return counted;
    const amounts = counted.value;
    const countable = checkCurrency(tool, terms.policy, amounts);
    if (!countable.ok) return countable;
    const { callerLimits } = terms.policy;
    const source = { args, previewed };
    if (callerLimits && !mayMove(principal, callerLimits, { tool, source })) return OVER_LIMIT;
    const id = operationIdOf(operation);
    const exhausted = budget.findOutOfReach(terms.policy, { id, amounts });
    return exhausted === undefined ? ok({ amounts }) : refuseExhausted("run", exhausted.budget);
  },
};

/**
 * Counts what one call takes: itself, its own cost, and the money it moves. Fails: OUT_OF_BOUNDS;
 * DEPENDENCY_UNAVAILABLE.
 */
function countAmounts(
  tool: BoundToolRuntime,
  args: JsonObject,
  previewed: ShownStates | undefined,
): Result<BudgetAmounts, ToolFailure> {
  const moved = countMoved(tool, { args, previewed });
  if (!moved.ok) return moved;
  // The steps of a saga count themselves.
  if (tool.saga) return ok({});
  const cost = mostCost(tool);
  return ok({
    [callBudgetOf(tool.sideEffectClass)]: 1,
    ...(cost > 0 && { cost }),
    ...(moved.value > 0 && { financial: toMillionths(moved.value) }),
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
  return failCall("other_currency", message);
}

const OVER_LIMIT = failCall("over_caller_limit");

/** Threat: a caller leaves the amount out. Nobody may ask for one that cannot be read. */
function mayMove(
  { roles }: Pick<Principal, "roles">,
  limits: NonNullable<ToolPolicy["callerLimits"]>,
  {
    tool: { amountField },
    source,
  }: { readonly tool: BoundToolRuntime; readonly source: AmountSource },
): boolean {
  const isUnread = typeof amountField === "object" && !source.previewed;
  if (amountField === undefined || isUnread) return true;
  return rolesWithin(limits, readMoved(amountField, source)).some((role) => roles.includes(role));
}

/** Threat: nobody can read the amount, and no budget counts it. */
const AMOUNT_UNKNOWN = failCall("amount_unknown");

/**
 * Counts the money that a call moves. An argument that is left out moves nothing, and so far does a
 * state that is not read yet; a missing field of a state is not known.
 */
function countMoved(
  { amountField }: BoundToolRuntime,
  source: AmountSource,
): Result<number, ToolFailure> {
  if (amountField === undefined) return ok(0);
  const isOfState = typeof amountField === "object";
  if (isOfState && !source.previewed) return ok(0);
  const amount = readAmount(amountField, source);
  if (typeof amount === "number") return ok(amount);
  if (isOfState) return AMOUNT_UNKNOWN;
  return amount === "missing" ? ok(0) : failField(amountField, "not_an_amount");
}
