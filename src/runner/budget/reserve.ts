import { failCall } from "../../protocol/outcome/failures.ts";
import type { BudgetLedger, Reservation } from "../../capabilities/budget.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { BUDGETS, lowerLimits, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { costCapsOf } from "../../protocol/policy/cost-cap.ts";
import { entryOf } from "../../protocol/policy/decide.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { SelectedTool } from "../../protocol/policy/selector.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { mutates } from "../active-call.ts";
import type { GateTrail } from "../gates/gate.ts";
import { operationIdOf, type InvocationLedger } from "../invocation/invocation-ledger.ts";
import { NO_POLICY, type PinnedTerms, type Terms } from "../terms.ts";
import { refuseExhausted } from "../outcome/tool-failure.ts";
import type { WAITING } from "../waiting.ts";
import type { NoRoom, RunBudget, Start } from "./of-run.ts";
import { reserveUnderCurrentPolicy, type Applicant } from "./reserve-under-current-policy.ts";
import { latestEndMs } from "./run-time.ts";
import { slowerOf } from "./slower-of.ts";

/** What reserving takes of the run. */
export interface ReservePorts {
  readonly budget: RunBudget;
  readonly invocations: Pick<InvocationLedger, "charge">;
  readonly ledger: BudgetLedger;
  readonly policies: PolicyStore;
  /** The policy that the run pinned: its ceiling. */
  readonly policy: ToolPolicy;
  readonly principal: Pick<Principal, "tenantId">;
  readonly clock: Pick<Clock, "nowMs">;
}

/** What a reservation does with consents that last. */
export type ReservedConsent = Pick<Reservation, "consent" | "grant">;

/** Answers a reservation whose consent covers the call no longer. */
export const CONSENT_ENDED = Symbol("consent_ended");

type Unreserved = ToolFailure | typeof WAITING | typeof CONSENT_ENDED;

/** A call that passed every gate before this one. */
export interface ReserveSubject<Obeyed> {
  readonly terms: Terms;
  readonly tool: BoundToolRuntime;
  readonly context: ToolInvocationContext;
  readonly amounts: BudgetAmounts;
  /** People approved the call, so the tenant's object has to confirm the policy. */
  readonly isApproved: boolean;
  /** Of the approval that answers the call now. */
  readonly consents: () => ReservedConsent;
  /** Runs the gates that read policy again, when the tenant's object knows a newer policy. */
  readonly obeyNewTerms: (
    terms: PinnedTerms,
  ) => Promise<Result<Obeyed, ToolFailure | typeof WAITING>>;
}

/**
 * Group: counts the call against the tool's own rate limit, the run's budgets and the tenant's,
 * before the call starts. A mutation also has to pass the current policy: reserving tells which
 * policy that is. Answers what `obeyNewTerms` answered last; undefined when the policy has not
 * changed.
 * Contract: one operation counts once, however often it is tried.
 * Fails: RATE_LIMITED, BUDGET_EXHAUSTED, DEPENDENCY_UNAVAILABLE; POLICY_VIOLATION where the tenant
 * has no policy; whatever `obeyNewTerms` fails with; CONSENT_ENDED.
 */
export async function reserve<Obeyed>(
  ports: ReservePorts,
  subject: ReserveSubject<Obeyed>,
  trail: GateTrail,
): Promise<Result<Obeyed | undefined, Unreserved>> {
  const { budget, invocations } = ports;
  const { tool, context, amounts } = subject;
  const noRoom = budget.reserve(startOf(ports, subject));
  if (noRoom) return trail.note("budget", refuse(noRoom, "run"));
  invocations.charge(context, amounts);
  const asksTenant = subject.isApproved || asksLedger(ports.policy, tool, amounts);
  return trail.note("budget", asksTenant ? await reserveAtTenant(ports, subject) : ok(undefined));
}

/** What looking for room takes of the run. */
export interface RoomPorts extends Pick<ReservePorts, "budget" | "policy" | "clock"> {
  readonly ledger: Pick<BudgetLedger, "peek">;
}

/** A call for which `reserve` may have room. */
export interface RoomSubject extends Pick<ReserveSubject<unknown>, "tool" | "amounts"> {
  readonly context: ChargedOperation;
  readonly consents?: () => ReservedConsent;
}

/** The operation that a reservation counts. */
type ChargedOperation = Pick<ToolInvocationContext, "runId" | "step" | "toolCallId">;

/**
 * Group: tells before people are asked whether `reserve` would find room for the call now, so that
 * nobody decides about a call that cannot run. Where the tenant's object does not answer, people
 * are asked. A raise that people may still be asked for counts as room. Answers the consent that
 * would answer the call, if one would.
 * Contract: reserves nothing.
 * Fails: RATE_LIMITED, BUDGET_EXHAUSTED.
 */
export async function checkRoom(
  ports: RoomPorts,
  subject: RoomSubject,
  terms: PinnedTerms,
): Promise<Result<string | undefined, ToolFailure>> {
  const noRoom = ports.budget.findNoRoom(startOf(ports, subject));
  if (noRoom) return refuse(noRoom, "run");
  const answer = await ports.ledger.peek(reservationUnder(ports.policy, subject, terms));
  switch (answer.kind) {
    case "exhausted":
    case "capped":
    case "rate_limited":
      return refuse(answer, "tenant");
    case "reserved":
      return ok(answer.consentId);
    case "policy_changed":
    case "no_consent":
    case "unavailable":
      return ok(undefined);
  }
}

function startOf(
  { clock }: Pick<ReservePorts, "clock">,
  { tool, context, amounts }: RoomSubject,
): Start {
  const { id: toolId, rateLimit } = tool;
  return { id: operationIdOf(context), toolId, rateLimit, amounts, nowMs: clock.nowMs() };
}

/**
 * Tells whether a call asks the tenant's ledger, one hop away: a read does so only where policy
 * limits it.
 */
export function asksLedger(
  policy: ToolPolicy,
  tool: BoundToolRuntime,
  amounts: BudgetAmounts,
): boolean {
  const limits = limitsOf(policy.tenantBudgets);
  const isLimited = BUDGETS.some(
    (budget) => amounts[budget] !== undefined && limits[budget] !== undefined,
  );
  const isCapped = amounts.cost !== undefined && costCapsOf(policy, tool).length > 0;
  const isRated = entryOf(policy, tool.id)?.rateLimit !== undefined;
  return mutates(tool) || isLimited || isCapped || isRated;
}

async function reserveAtTenant<Obeyed>(
  ports: ReservePorts,
  subject: ReserveSubject<Obeyed>,
): Promise<Result<Obeyed | undefined, Unreserved>> {
  const { ledger, policies, principal } = ports;
  const { policy, pin } = subject.terms;
  if (!pin) return NO_POLICY;
  const applicant: Applicant<ToolFailure | typeof WAITING, Obeyed> = {
    reservationUnder: (terms) => reservationUnder(ports.policy, subject, terms),
    obeyNewTerms: subject.obeyNewTerms,
  };
  const tenant = { ledger, policies, tenantId: principal.tenantId };
  const answer = await reserveUnderCurrentPolicy(tenant, { policy, pin }, applicant);
  switch (answer.kind) {
    case "reserved":
      return ok(answer.obeyed);
    case "exhausted":
    case "capped":
    case "rate_limited":
      return refuse(answer, "tenant");
    case "no_consent":
      return fail(CONSENT_ENDED);
    case "no_policy":
      return NO_POLICY;
    case "refused":
      return fail(answer.failure);
    case "unavailable":
      return UNAVAILABLE[answer.because];
  }
}

/** Why the tenant's ledger reserved nothing. */
const UNAVAILABLE = {
  unreachable: fail({
    ...failCall("ledger_unavailable", "the budget ledger cannot be reached").failure,
    endedBy: { who: "tenant" } as const,
  }),
  changing: failCall("ledger_unavailable", "the policy keeps changing; try again later"),
};

/** The pinned policy is the ceiling: the lower limit of it and of the current policy holds. */
function reservationUnder(
  pinned: ToolPolicy,
  { tool, context, amounts, consents }: RoomSubject,
  { policy, pin }: PinnedTerms,
): Reservation {
  const rateLimit = slowerOf(
    entryOf(pinned, tool.id)?.rateLimit,
    entryOf(policy, tool.id)?.rateLimit,
  );
  const policies = amounts.cost === undefined ? [] : [pinned, policy];
  const caps = policies.flatMap((one) => costCapsOf(one, tool));
  return {
    id: reservationIdOf(context),
    toolId: tool.id,
    amounts,
    limits: lowerLimits(limitsOf(pinned.tenantBudgets), limitsOf(policy.tenantBudgets)),
    windowSeconds: policy.tenantBudgets.windowSeconds,
    ...(rateLimit && { rateLimit }),
    ...(caps.length > 0 && { capped: { tool: selectedTool(tool), caps } }),
    ...(!mutates(tool) && {
      unsettled: { forMs: latestEndMs(pinned), keeps: moneyOf(amounts) },
    }),
    ...consents?.(),
    pin,
  };
}

/** The tool alone, because it goes to another object. */
function selectedTool({ id, effect, sideEffectClass }: BoundToolRuntime): SelectedTool {
  return { id, effect, sideEffectClass };
}

/** A read that is never settled changed nothing, but it may have cost money. */
function moneyOf({ cost = 0, financial = 0 }: BudgetAmounts): BudgetAmounts {
  return { cost, financial };
}

/** Names a call in its tenant's ledger. */
export function reservationIdOf(context: ChargedOperation): string {
  return `${context.runId}/${operationIdOf(context)}`;
}

function refuse(noRoom: NoRoom, whose: "run" | "tenant"): Result<never, ToolFailure> {
  if (noRoom.kind === "exhausted") return refuseExhausted(whose, noRoom.budget);
  if (noRoom.kind === "capped") return failCall("cost_capped");
  const { retryAfterMs } = noRoom;
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const message = `too many calls; the next may start in ${seconds} s`;
  return fail({ ...failCall("rate_limited", message).failure, retryAfterMs });
}
