import type { Reservation } from "../../capabilities/budget-ledger.ts";
import { BUDGETS, callBudgetOf, type BudgetAmounts } from "../../protocol/budget.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { fromPointer } from "../../protocol/json-pointer.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import type { PolicyPin } from "../../protocol/policy-pin.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { entryOf, limitsOf, toMillionths, type ToolPolicy } from "../../protocol/tool-policy.ts";
import { mutates, operationIdOf, type CallInHand } from "../call-in-hand.ts";
import { failCall } from "../tool-failure.ts";
import { checkApproval } from "./check-approval.ts";
import { checkArgumentRules } from "./check-argument-rules.ts";
import { checkPolicy } from "./check-policy.ts";
import { authorise } from "./authorise.ts";

/** A policy that changes oftener than this while one call waits is not to be relied on. */
const MAX_POLICY_CHANGES = 3;

/**
 * Gate 10: counts the call against its own limits, the run's and the tenant's, before it starts. A
 * mutation also has to pass the policy that is current now; asking for the budget tells which one that is.
 * Contract: an operation is counted once, however often it is tried. Fails: RATE_LIMITED,
 * BUDGET_EXHAUSTED; whatever the current policy's gates say; DEPENDENCY_UNAVAILABLE.
 */
export async function reserveBudget(
  hand: CallInHand,
  args: JsonObject,
): Promise<Result<null, ToolFailure>> {
  const { tool, ports } = hand;
  const amounts = amountsOf(hand, args);
  if (!amounts.ok) return amounts;
  const isNew = hand.attempt === 1;
  const waitMs = isNew
    ? ports.budget.countStart(tool.id, tool.rateLimit, ports.clock.nowMs())
    : undefined;
  if (waitMs !== undefined) return rateLimited(waitMs);
  const exhausted = ports.budget.reserve(operationIdOf(hand.context), amounts.value);
  if (exhausted !== undefined) return budgetExhausted(`run's ${exhausted}`);
  return asksLedger(hand, amounts.value) ? reserveOfTenant(hand, args, amounts.value) : ok(null);
}

/** A read asks the tenant's ledger only where policy limits what it takes of the tenant: it is a hop away. */
function asksLedger({ tool, ports }: CallInHand, amounts: BudgetAmounts): boolean {
  const limits = limitsOf(ports.policy.tenantBudgets);
  const isLimited = BUDGETS.some(
    (budget) => amounts[budget] !== undefined && limits[budget] !== undefined,
  );
  return mutates(tool) || isLimited || entryOf(ports.policy, tool.id)?.rateLimit !== undefined;
}

async function reserveOfTenant(
  hand: CallInHand,
  args: JsonObject,
  amounts: BudgetAmounts,
): Promise<Result<null, ToolFailure>> {
  const { ports } = hand;
  let { policy, pin } = ports;
  for (let change = 0; pin && change <= MAX_POLICY_CHANGES; change++) {
    const answer = await ports.ledger.reserve(reservationOf(hand, { policy, pin, amounts }));
    switch (answer.kind) {
      case "reserved":
        return ok(null);
      case "exhausted":
        return budgetExhausted(`tenant's ${answer.budget}`);
      case "rate_limited":
        return rateLimited(answer.retryAfterMs);
      case "unavailable":
        return unavailable("the budget ledger cannot be reached");
      case "policy_changed": {
        if (!answer.pin) return failCall("POLICY_VIOLATION", NO_POLICY);
        ports.policies.learn(ports.principal.tenantId, answer.pin);
        const current = await ports.policies.read(ports.principal.tenantId, answer.pin);
        const passed = await passPolicy(hand, args, current.policy);
        if (!passed.ok) return passed;
        policy = current.policy;
        pin = current.pin;
      }
    }
  }
  return pin ? unavailable("the policy is changing") : failCall("POLICY_VIOLATION", NO_POLICY);
}

const NO_POLICY = { code: "no_policy", message: "there is no policy that allows this" } as const;

/** The gates that read policy, asked about another one; the pinned one has been passed already. */
async function passPolicy(
  hand: CallInHand,
  args: JsonObject,
  policy: ToolPolicy,
): Promise<Result<null, ToolFailure>> {
  const allowed = checkPolicy(policy, hand.tool);
  if (!allowed.ok) return allowed;
  const authorised = await authorise(hand, policy);
  if (!authorised.ok) return authorised;
  if (authorised.value !== hand.context.connectionId) {
    const message = "the connection of this call is not granted any more";
    return failCall("PERMISSION_DENIED", { code: "no_connection", message });
  }
  const ruled = checkArgumentRules(policy, hand.tool, args);
  return ruled.ok ? checkApproval(policy, hand.tool) : ruled;
}

function reservationOf(
  { tool, context }: CallInHand,
  {
    policy,
    pin,
    amounts,
  }: { readonly policy: ToolPolicy; readonly pin: PolicyPin; readonly amounts: BudgetAmounts },
): Reservation {
  const rateLimit = entryOf(policy, tool.id)?.rateLimit;
  return {
    id: `${context.runId}/${operationIdOf(context)}`,
    toolId: tool.id,
    amounts,
    limits: limitsOf(policy.tenantBudgets),
    windowSeconds: policy.tenantBudgets.windowSeconds,
    ...(rateLimit && { rateLimit }),
    pin,
  };
}

/** What one call takes: itself, what it costs, and the money it moves. */
function amountsOf(
  { tool, ports }: CallInHand,
  args: JsonObject,
): Result<BudgetAmounts, ToolFailure> {
  const moved = tool.amountField === undefined ? 0 : readAmount(args, tool.amountField);
  if (moved === undefined) {
    const message = "expected an amount of money that is not negative";
    const errors = [{ field: tool.amountField ?? null, code: "not_an_amount", message }];
    return fail({ taxonomyClass: "OUT_OF_BOUNDS", errors });
  }
  const { currency, perCall } = tool.cost;
  if ((moved > 0 || perCall > 0) && currency !== ports.policy.currency) {
    const message = `policy counts money in ${ports.policy.currency}, this tool in ${currency}`;
    return failCall("POLICY_VIOLATION", { code: "other_currency", message });
  }
  return ok({
    [callBudgetOf(tool.sideEffectClass)]: 1,
    ...(perCall > 0 && { cost: toMillionths(perCall) }),
    ...(moved > 0 && { financial: toMillionths(moved) }),
  });
}

/** Reads the number that a pointer of the contract names; a field that is left out moves nothing. */
function readAmount(args: JsonObject, pointer: string): number | undefined {
  let value: unknown = args;
  for (const key of fromPointer(pointer)) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return 0;
    value = (value as JsonObject)[key];
  }
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function rateLimited(retryAfterMs: number): Result<never, ToolFailure> {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const message = `too many calls; the next may start in ${seconds} s`;
  const errors = [{ field: null, code: "rate_limited", message }];
  return fail({ taxonomyClass: "RATE_LIMITED", errors, retryAfterMs });
}

function budgetExhausted(whose: string): Result<never, ToolFailure> {
  const message = `the ${whose} budget is used up`;
  return failCall("BUDGET_EXHAUSTED", { code: "budget_exhausted", message });
}

function unavailable(message: string): Result<never, ToolFailure> {
  return failCall("DEPENDENCY_UNAVAILABLE", { code: "ledger_unavailable", message });
}
