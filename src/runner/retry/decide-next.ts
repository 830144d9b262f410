import { failCall } from "../../protocol/outcome/failures.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { Clock, Random } from "../../capabilities/system.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import {
  mayHaveChanged,
  respond,
  type DispatchState,
} from "../../protocol/outcome/response-vector.ts";
import { mutates, type ActiveCall } from "../active-call.ts";
import type { AttemptResult } from "../attempt.ts";
import type { RunBudget } from "../budget/of-run.ts";
import { checkStillWanted, type WantedPorts } from "../gates/check-still-wanted.ts";
import { GateTrail } from "../gates/gate.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { backoffMs, MAX_DELAY_MS } from "./backoff.ts";
import { pause } from "../pause.ts";

/** What deciding about a retry takes of the run. */
export interface RetryPorts extends WantedPorts {
  readonly budget: Pick<RunBudget, "takeRetry">;
  readonly clock: Clock;
  readonly random: Random;
  readonly invocations: Pick<InvocationLedger, "find" | "isEndedByHook" | "retract" | "retryAt">;
  /** When the run's time is up. Unit: Unix milliseconds; infinity without a limit. */
  readonly endsAtMs: () => number;
  readonly journal: Pick<RunJournal, "append">;
}

/** What follows an attempt. */
export type Next =
  | { readonly kind: "ended"; readonly result: AttemptResult }
  | { readonly kind: "retry"; readonly call: ActiveCall }
  /** The next attempt is planned, and the run may rest until then. */
  | { readonly kind: "rests" }
  /** The effect may have happened, and a retry is not allowed. */
  | { readonly kind: "unknown_outcome"; readonly failure: ToolFailure };

/** A call that waits at least this long for its next attempt lets the run rest. */
const REST_FROM_MS = 5_000;

/**
 * Decides what follows an attempt. Before a retry of the same call under the same key it waits for
 * the backoff, and asks again whether the run wants the call. A long wait is left to the alarm of
 * the run.
 */
export async function decideNext(
  ports: RetryPorts,
  call: ActiveCall,
  result: AttemptResult,
): Promise<Next> {
  const { context, tool, signal } = call;
  const { ranWith, dispatched } = result;
  const unknownOutcome = unknownOutcomeAfter(call, result);
  const end = (last: AttemptResult): Next => {
    if (!unknownOutcome) return { kind: "ended", result: last };
    return result.write === "changed"
      ? { kind: "ended", result: { ...result, outcome: UNREPORTED } }
      : { kind: "unknown_outcome", failure: unknownOutcome };
  };
  const windowMs = retryWindowMs(ports, call);
  const delayMs = takeRetryMs(ports, call, { result, windowMs });
  if (delayMs === undefined) return end(result);
  // Nothing happened. Recorded before the pause, so a crash during it leaves no unknown outcome.
  if (dispatched && !unknownOutcome && mutates(tool)) ports.invocations.retract(context);
  const { part, toolCallId } = context;
  const attempt = call.attempt + 1;
  if (windowMs > 0 && delayMs >= REST_FROM_MS) {
    const retryAtMs = ports.clock.nowMs() + delayMs;
    ports.invocations.retryAt(context, retryAtMs);
    const progress = { part, toolCallId, attempt, retryAtMs };
    ports.journal.append([{ type: "tool_call_progress", ...progress }]);
    return { kind: "rests" };
  }
  await pause(ports.clock, delayMs, signal);
  const isStep = call.toolCall.saga !== undefined;
  const wantedCall = { tool, signal, hasBegun: ranWith !== undefined, isStep };
  const trail = new GateTrail();
  const wanted = checkStillWanted(ports, wantedCall, trail);
  // The failure of a tool that ran tells the model more than that the call is not retried.
  if (!wanted.ok)
    return end(ranWith ? result : { ...result, outcome: wanted, gates: trail.results });
  ports.journal.append([{ type: "tool_call_progress", part, toolCallId, attempt }]);
  return { kind: "retry", call: { ...call, attempt, ranWith, unknownOutcome } };
}

/** The ledger of a workspace holds the write, so no operator is needed. */
const UNREPORTED = failCall(
  "invalid_output",
  "the tool changed the workspace, but did not report it",
);

/** Tells why the outcome is unknown after an attempt; undefined when it is known. */
function unknownOutcomeAfter(call: ActiveCall, result: AttemptResult): ToolFailure | undefined {
  const { dispatched, outcome, write } = result;
  if (outcome.ok || hasHappened(result) || write === "unchanged") return undefined;
  const { taxonomyClass } = outcome.failure;
  const isUnknown = dispatched && mayHaveChanged(taxonomyClass, dispatchStateOf(call, result));
  // The answer to one attempt says nothing about the attempts before it.
  return isUnknown ? outcome.failure : call.unknownOutcome;
}

const FIRST_DELAY_MS = 250;

/**
 * Tells how long a dispatched write may still be repeated, by its contract and the run's time. At
 * the end of that time an operator is asked, while the run has time left. Unit: milliseconds; 0 or
 * less when that time is over.
 */
function retryWindowMs(
  { clock, endsAtMs, invocations }: RetryPorts,
  { tool, context }: ActiveCall,
): number {
  const { dispatchedAtMs } = invocations.find(context) ?? {};
  if (dispatchedAtMs === undefined || tool.retryForMs === 0) return 0;
  return Math.min(dispatchedAtMs + tool.retryForMs, endsAtMs()) - clock.nowMs();
}

/**
 * Computes the delay before a retry; undefined when there is none.
 * Contract: takes one retry of the run's budget when it answers a delay.
 */
function takeRetryMs(
  { random, budget }: RetryPorts,
  call: ActiveCall,
  { result, windowMs }: { readonly result: AttemptResult; readonly windowMs: number },
): number | undefined {
  const { tool, attempt, signal } = call;
  const isCounted = attempt <= tool.maxRetries;
  if (result.outcome.ok || signal.aborted || (!isCounted && windowMs <= 0)) return undefined;
  const { taxonomyClass, retryAfterMs } = result.outcome.failure;
  if (!respond(taxonomyClass, dispatchStateOf(call, result)).retryable) return undefined;
  const withinMs = Math.max(windowMs, isCounted ? MAX_DELAY_MS : 0);
  const retry = { firstMs: FIRST_DELAY_MS, attempt, askedMs: retryAfterMs, withinMs };
  const delayMs = backoffMs(retry, random);
  return delayMs !== undefined && budget.takeRetry() ? delayMs : undefined;
}

/** What the response to an outcome depends on, besides its class. */
export function dispatchStateOf(
  { tool, unknownOutcome }: Pick<ActiveCall, "tool" | "unknownOutcome">,
  { dispatched, outcome }: Pick<AttemptResult, "dispatched" | "outcome">,
): DispatchState {
  const mayHaveRun = outcome.ok || outcome.failure.notCommitted !== true;
  return {
    dispatched: unknownOutcome !== undefined || (dispatched && mayHaveRun),
    mutates: mutates(tool),
    isIdempotent: tool.isIdempotent,
    repairEnded: false,
  };
}

/**
 * Tells whether an attempt had its effect. It may have, although its output does not fit the
 * contract.
 */
export function hasHappened({
  dispatched,
  outcome,
}: Pick<AttemptResult, "dispatched" | "outcome">): boolean {
  if (!dispatched || outcome.ok) return dispatched;
  const { taxonomyClass, notCommitted, committed } = outcome.failure;
  if (committed) return true;
  return taxonomyClass === "OBSERVATION_NORMALIZATION_FAIL" && notCommitted !== true;
}
