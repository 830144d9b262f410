import type { RateLimit, Reservation } from "../../capabilities/budget.ts";
import { BUDGETS, lowerLimits, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSamePin } from "../../protocol/policy/pin.ts";
import { entryOf, requirementOf } from "../../protocol/policy/decide.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import { amountsOf, checkCurrency } from "../budget/amounts.ts";
import { requestApproval } from "../approval/request.ts";
import { mutates, type ActiveCall } from "../active-call.ts";
import type { Invocation } from "../invocation.ts";
import type { WAITING } from "../waiting.ts";
import { operationIdOf } from "../invocation-ledger.ts";
import type { NoRoom } from "../budget/of-run.ts";
import { surelyOverMs } from "../budget/run-time.ts";
import { failCall } from "../tool-failure.ts";
import { reserveOfTenant, type Applicant, type PinnedPolicy } from "../budget/reserve-of-tenant.ts";
import { checkArgumentRules } from "./check-argument-rules.ts";
import { checkPolicy } from "./check-policy.ts";
import { authorise } from "./authorise.ts";
import type { Accepted } from "../accepted.ts";

/**
 * Gate 10: counts the call against its own limits, the run's and the tenant's, before it starts. A
 * mutation also has to pass the policy that is current now; asking for the budget tells which one that is.
 * Contract: an operation is counted once, however often it is tried. Fails: RATE_LIMITED,
 * BUDGET_EXHAUSTED; whatever the current policy's gates say; DEPENDENCY_UNAVAILABLE.
 */
export async function reserveBudget(hand: ActiveCall, admitted: Admitted): Promise<Reserved> {
  const { tool, ports } = hand;
  const counted = amountsOf(tool, admitted.accepted.args);
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
  const isBound = admitted.approval !== null;
  return isBound || asksLedger(hand, amounts)
    ? askTenant(hand, { ...admitted, amounts })
    : ok(null);
}

/** A call that has come as far as the budgets, with what people said to it. */
export interface Admitted {
  readonly accepted: Accepted;
  readonly invocation: Invocation;
  readonly approval: ApprovalRecord | null;
}

/** Answers the approval that the call takes. */
type Reserved = Result<ApprovalRecord | null, ToolFailure | typeof WAITING>;

/** A read asks the tenant's ledger only where policy limits what it takes of the tenant: it is a hop away. */
export function asksLedger(
  { tool, ports }: Pick<ActiveCall, "tool" | "ports">,
  amounts: BudgetAmounts,
): boolean {
  const limits = limitsOf(ports.policy.tenantBudgets);
  const isLimited = BUDGETS.some(
    (budget) => amounts[budget] !== undefined && limits[budget] !== undefined,
  );
  return mutates(tool) || isLimited || entryOf(ports.policy, tool.id)?.rateLimit !== undefined;
}

/** A call, and what it takes. */
interface Taking extends Admitted {
  readonly amounts: BudgetAmounts;
}

async function askTenant(hand: ActiveCall, taking: Taking): Promise<Reserved> {
  const { ledger, pin, policies, policy, principal } = hand.ports;
  if (!pin) return failCall("POLICY_VIOLATION", NO_POLICY);
  const { tenantId } = principal;
  let { approval } = taking;
  const applicant: Applicant<ToolFailure | typeof WAITING> = {
    reservationUnder: (terms) => reservationOf(hand, { ...terms, amounts: taking.amounts }),
    async passes(terms) {
      const passed = await passPolicy(hand, { ...taking, approval }, terms);
      if (!passed.ok) return passed;
      approval = passed.value;
      return ok(null);
    },
  };
  const answer = await reserveOfTenant({ ledger, policies, tenantId }, { policy, pin }, applicant);
  switch (answer.kind) {
    case "reserved":
      return ok(approval);
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
  hand: ActiveCall,
  { amounts, ...admitted }: Taking,
  terms: PinnedPolicy,
): Promise<Reserved> {
  const { policy } = terms;
  const allowed = checkPolicy(policy, hand.tool);
  if (!allowed.ok) return allowed;
  const authorised = await authorise(hand, policy);
  if (!authorised.ok) return authorised;
  if (authorised.value !== hand.context.connectionId) {
    const message = "the connection of this call is not granted any more";
    return failCall("PERMISSION_DENIED", { code: "no_connection", message });
  }
  const ruled = checkArgumentRules(policy, hand.tool, admitted.accepted.args);
  if (!ruled.ok) return ruled;
  const approved = await checkTerms(hand, admitted, terms);
  if (!approved.ok) return approved;
  const budget = hand.ports.budget.findExceeded(limitsOf(policy.budgets), amounts);
  if (budget !== undefined) return refuse({ kind: "exhausted", budget }, "run");
  const countable = checkCurrency(hand.tool, policy, amounts);
  return countable.ok ? approved : countable;
}

/**
 * Gate 9 under the current policy: an approval that was given under another one says nothing about this
 * one; where only this one asks for people, they are asked now.
 */
async function checkTerms(
  hand: ActiveCall,
  { accepted, invocation, approval }: Admitted,
  { policy, pin }: PinnedPolicy,
): Promise<Reserved> {
  if (approval) return isSamePin(approval.pin, pin) ? ok(approval) : OUTDATED;
  const requirement = requirementOf(policy, hand.tool);
  if (!requirement) return ok(null);
  return requestApproval(hand, { accepted, invocation, requirement, pin });
}

const OUTDATED = failCall("CONFIRMATION_MISSING", {
  code: "approval_outdated",
  message: "the policy has changed since people were asked",
});

type Terms = Pick<Taking, "amounts"> & PinnedPolicy;

/** The pinned policy is the ceiling: of its limits and those of another one the lower hold. */
function reservationOf(
  { tool, context, ports }: ActiveCall,
  { policy, pin, amounts }: Terms,
): Reservation {
  const rateLimit = slowerOf(
    entryOf(ports.policy, tool.id)?.rateLimit,
    entryOf(policy, tool.id)?.rateLimit,
  );
  return {
    id: reservationIdOf(context),
    toolId: tool.id,
    amounts,
    limits: lowerLimits(limitsOf(ports.policy.tenantBudgets), limitsOf(policy.tenantBudgets)),
    windowSeconds: policy.tenantBudgets.windowSeconds,
    ...(rateLimit && { rateLimit }),
    ...(!mutates(tool) && {
      unsettled: { forMs: surelyOverMs(ports.policy), keeps: moneyOf(amounts) },
    }),
    pin,
  };
}

/** A read that nobody settled has changed nothing, and may have cost something. */
function moneyOf({ cost = 0, financial = 0 }: BudgetAmounts): BudgetAmounts {
  return { cost, financial };
}

/** Names a call in its tenant's ledger. */
export function reservationIdOf(context: ToolInvocationContext): string {
  return `${context.runId}/${operationIdOf(context)}`;
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
