import type { RateLimit, Reservation } from "../../capabilities/budget-ledger.ts";
import { BUDGETS, lowerLimits, type BudgetAmounts } from "../../protocol/budget.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { entryOf, limitsOf, type ToolPolicy } from "../../protocol/tool-policy.ts";
import { amountsOf, checkCurrency } from "../amounts-of.ts";
import { mutates, type CallInHand } from "../call-in-hand.ts";
import { operationIdOf } from "../invocation-ledger.ts";
import type { NoRoom } from "../run-budget.ts";
import { failCall } from "../tool-failure.ts";
import { reserveOfTenant, type Applicant, type PinnedPolicy } from "../reserve-of-tenant.ts";
import { checkApproval } from "./check-approval.ts";
import { checkArgumentRules } from "./check-argument-rules.ts";
import { checkPolicy } from "./check-policy.ts";
import { authorise } from "./authorise.ts";

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
  const counted = amountsOf(tool, args);
  if (!counted.ok) return counted;
  const amounts = counted.value;
  const countable = checkCurrency(tool, ports.policy, amounts);
  if (!countable.ok) return countable;
  const noRoom = ports.budget.reserve({
    id: operationIdOf(hand.context),
    toolId: tool.id,
    rateLimit: tool.rateLimit,
    amounts,
    nowMs: ports.clock.nowMs(),
  });
  if (noRoom) return refuse(noRoom, "run");
  ports.invocations.charge(hand.context, amounts);
  return asksLedger(hand, amounts) ? askTenant(hand, { args, amounts }) : ok(null);
}

/** A read asks the tenant's ledger only where policy limits what it takes of the tenant: it is a hop away. */
function asksLedger({ tool, ports }: CallInHand, amounts: BudgetAmounts): boolean {
  const limits = limitsOf(ports.policy.tenantBudgets);
  const isLimited = BUDGETS.some(
    (budget) => amounts[budget] !== undefined && limits[budget] !== undefined,
  );
  return mutates(tool) || isLimited || entryOf(ports.policy, tool.id)?.rateLimit !== undefined;
}

/** A call, and what it takes. */
interface Taking {
  readonly args: JsonObject;
  readonly amounts: BudgetAmounts;
}

async function askTenant(hand: CallInHand, taking: Taking): Promise<Result<null, ToolFailure>> {
  const { ledger, pin, policies, policy, principal } = hand.ports;
  if (!pin) return failCall("POLICY_VIOLATION", NO_POLICY);
  const { tenantId } = principal;
  const applicant: Applicant<ToolFailure> = {
    reservationUnder: (terms) => reservationOf(hand, { ...terms, ...taking }),
    passes: (current) => passPolicy(hand, taking, current),
  };
  const answer = await reserveOfTenant({ ledger, policies, tenantId }, { policy, pin }, applicant);
  switch (answer.kind) {
    case "reserved":
      return ok(null);
    case "exhausted":
    case "rate_limited":
      return refuse(answer, "tenant");
    case "no_policy":
      return failCall("POLICY_VIOLATION", NO_POLICY);
    case "refused":
      return fail(answer.failure);
    case "unavailable":
      return unavailable(UNAVAILABLE[answer.because]);
  }
}

const UNAVAILABLE = {
  unreachable: "the budget ledger cannot be reached",
  changing: "the policy is changing",
} as const;

const NO_POLICY = { code: "no_policy", message: "there is no policy that allows this" } as const;

/** The gates that read policy, asked about another one; the pinned one has been passed already. */
async function passPolicy(
  hand: CallInHand,
  { args, amounts }: Taking,
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
  if (!ruled.ok) return ruled;
  const approved = checkApproval(policy, hand.tool);
  if (!approved.ok) return approved;
  const budget = hand.ports.budget.findExceeded(limitsOf(policy.budgets), amounts);
  if (budget !== undefined) return refuse({ kind: "exhausted", budget }, "run");
  return checkCurrency(hand.tool, policy, amounts);
}

type Terms = Taking & PinnedPolicy;

/** The pinned policy is the ceiling: of its limits and those of another one the lower hold. */
function reservationOf(
  { tool, context, ports }: CallInHand,
  { policy, pin, amounts }: Terms,
): Reservation {
  const rateLimit = slowerOf(
    entryOf(ports.policy, tool.id)?.rateLimit,
    entryOf(policy, tool.id)?.rateLimit,
  );
  return {
    id: `${context.runId}/${operationIdOf(context)}`,
    toolId: tool.id,
    amounts,
    limits: lowerLimits(limitsOf(ports.policy.tenantBudgets), limitsOf(policy.tenantBudgets)),
    windowSeconds: policy.tenantBudgets.windowSeconds,
    ...(rateLimit && { rateLimit }),
    pin,
  };
}

function slowerOf(a: RateLimit | undefined, b: RateLimit | undefined): RateLimit | undefined {
  if (!a || !b) return a ?? b;
  return a.maxRequests * b.windowSeconds < b.maxRequests * a.windowSeconds ? a : b;
}

function refuse(noRoom: NoRoom, whose: "run" | "tenant"): Result<never, ToolFailure> {
  if (noRoom.kind === "exhausted") {
    const message = `the ${whose}'s ${noRoom.budget} budget is used up`;
    return failCall("BUDGET_EXHAUSTED", { code: "budget_exhausted", message });
  }
  const { retryAfterMs } = noRoom;
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const message = `too many calls; the next may start in ${seconds} s`;
  const errors = [{ field: null, code: "rate_limited", message }];
  return fail({ taxonomyClass: "RATE_LIMITED", errors, retryAfterMs });
}

function unavailable(message: string): Result<never, ToolFailure> {
  return failCall("DEPENDENCY_UNAVAILABLE", { code: "ledger_unavailable", message });
}
