import { errorOf, failCall } from "../../protocol/outcome/failures.ts";
import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { Clock } from "../../capabilities/system.ts";
import {
  isUnknownWrite,
  type ToolExecResult,
  type ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import { NOT_DISPATCHED } from "../../protocol/outcome/response-vector.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { TIMED_OUT } from "../author-code/ask-tool.ts";
import type { AttemptResult } from "../attempt.ts";
import type { RunBudget } from "../budget/of-run.ts";
import { finalise, type FinalisePorts } from "../finalise.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { normaliseOutput } from "../output/normalise-output.ts";
import type { EndingCall } from "../outcome/conclusion.ts";
import { asRead } from "../outcome/is-untrusted.ts";
import { record, recordFailure, type RecordPorts } from "../record.ts";
import { WAITING } from "../waiting.ts";
import type { AboutPorts } from "./ask-about-call.ts";
import { reconcile, type Reconciled } from "./reconcile.ts";

/** What resolving takes of the run. */
export type ResolvePorts = AboutPorts &
  FinalisePorts &
  OperatorPorts & {
    readonly invocations: Pick<InvocationLedger, "retract">;
    readonly budget: Pick<RunBudget, "takeRetry">;
  };

/** What follows an operation whose outcome was unknown. */
export type Resolved =
  | { readonly kind: "ended"; readonly result: ToolExecResult | typeof WAITING }
  /** The effect did not happen, so the call may be tried again. */
  | { readonly kind: "retry"; readonly call: ActiveCall };

/** Failure used when a crash interrupted the tool. */
export const TOOL_INTERRUPTED: ToolFailure = failCall("interrupted").failure;

/** Failure used when no attempt of a repeated write told whether it happened. */
export const NO_ANSWER: ToolFailure = failCall("no_answer").failure;

/**
 * Resolves the unknown outcome of a dispatched operation: asks the contract's `reconcile`, else an
 * operator.
 * Contract: the operation is never retried blindly (docs/reliability.md).
 */
export async function resolveUnknownOutcome(
  ports: ResolvePorts,
  call: ActiveCall,
  failure: ToolFailure,
): Promise<Resolved> {
  if (call.signal.aborted) return ended(recordUnresolved(ports, call, failure));
  const reconciled = await reconcile(ports, call);
  const isTrusted = !mayStillAct(call, failure, reconciled.answer);
  const answer: Reconciliation<unknown> = isTrusted ? reconciled.answer : { kind: "unknown" };
  switch (answer.kind) {
    case "committed": {
      const tool = asRead(ports, call.tool, call.context);
      const outcome = normaliseOutput(ports, { ...reconciled, tool }, ok(answer.output));
      const result = { ...resultOf(call, reconciled), outcome, isReplay: true };
      return ended(record(ports, call, await finalise(ports, call, result)));
    }
    case "not_committed":
      return retryOrEnd(ports, call, { failure, reconciled });
    case "unknown":
      if (call.signal.aborted) return ended(recordUnresolved(ports, call, failure));
      awaitOperator(ports, call.context);
      return ended(WAITING);
  }
}

/**
 * Tells whether an effect that has not happened may happen yet. An attempt that timed out was
 * abandoned and may act after the contract answered. Only an idempotent tool may run again beside
 * it.
 */
function mayStillAct(
  { tool }: ActiveCall,
  { errors }: ToolFailure,
  { kind }: Reconciliation<unknown>,
): boolean {
  const isAbandoned = errors.some(({ code }) => code === TIMED_OUT);
  return kind === "not_committed" && isAbandoned && !tool.isIdempotent;
}

/** An operation that did not happen may be tried once more, even if its contract has no retries. */
async function retryOrEnd(
  ports: ResolvePorts,
  call: ActiveCall,
  { failure, reconciled }: { readonly failure: ToolFailure; readonly reconciled: Reconciled },
): Promise<Resolved> {
  const { tool, context, attempt } = call;
  ports.invocations.retract(context);
  const known = { ...call, unknownOutcome: undefined };
  if (attempt <= Math.max(tool.maxRetries, 1) && ports.budget.takeRetry()) {
    return { kind: "retry", call: { ...known, attempt: attempt + 1, ranWith: undefined } };
  }
  const final = { ...addError(failure, NOT_COMMITTED), notCommitted: true as const };
  const result = { ...resultOf(call, reconciled), outcome: fail(final) };
  return ended(record(ports, known, await finalise(ports, known, result)));
}

function resultOf(
  { ranWith, context }: ActiveCall,
  { accepted, shownArgs, argumentsDigest }: Reconciled,
): Omit<AttemptResult, "outcome"> {
  return {
    argumentsDigest,
    args: accepted.args,
    ...(shownArgs && { shownArgs }),
    ranWith: ranWith ?? context,
    dispatched: true,
  };
}

/** Records the end of a stopped run's call whose outcome stays unknown. */
function recordUnresolved(
  ports: RecordPorts,
  call: EndingCall,
  failure: ToolFailure,
): ToolExecResult {
  return recordExpired(ports, call, addError(failure, STOPPED));
}

/**
 * Ends a call whose tool is not needed for that: an operator resolved its outcome, or no operator
 * did in time, or the run is stopped while the outcome of a write is unknown. Undefined for any
 * other call, which it leaves open.
 */
export function endWithoutTool(
  ports: RecordPorts,
  call: EndingCall,
  { record, isStopped }: { readonly record: ToolInvocationRecord; readonly isStopped: boolean },
): ToolExecResult | undefined {
  const { resolution } = record;
  if (resolution) return recordResolution(ports, call, resolution);
  const isUnresolved = isStopped && isUnknownWrite(record);
  return isUnresolved ? recordUnresolved(ports, call, TOOL_INTERRUPTED) : undefined;
}

/**
 * Records the end of a call that an operator resolved, or that no operator resolved in time. The
 * call's tool need not exist any more.
 */
function recordResolution(
  ports: RecordPorts,
  call: EndingCall,
  { outcome }: NonNullable<ToolInvocationRecord["resolution"]>,
): ToolExecResult {
  switch (outcome) {
    case "committed":
      return record(ports, call, {
        outcome: { ok: true, value: { data: null, warnings: [CONFIRMED] } },
        invocationState: "COMPLETED",
        dispatchState: DISPATCHED_WRITE,
        isReplay: true,
      });
    case "not_committed":
      return recordFailure(ports, call, { failure: addError(TOOL_INTERRUPTED, NOT_COMMITTED) });
    case "expired":
      return recordExpired(ports, call, UNANSWERED);
  }
}

function recordExpired(ports: RecordPorts, call: EndingCall, failure: ToolFailure): ToolExecResult {
  const dispatchState = DISPATCHED_WRITE;
  return record(ports, call, { outcome: fail(failure), invocationState: "EXPIRED", dispatchState });
}

/** What asking an operator takes of the run. */
export interface OperatorPorts {
  readonly clock: Pick<Clock, "nowMs">;
  /** How long an operator may take. Unit: milliseconds. */
  readonly outcomeWaitMs: number;
  readonly invocations: Pick<InvocationLedger, "awaitOutcome">;
  readonly journal: Pick<RunJournal, "append">;
}

/** Asks an operator to resolve the outcome, and tells the readers that the call waits. */
export function awaitOperator(
  { clock, outcomeWaitMs, invocations, journal }: OperatorPorts,
  context: ActiveCall["context"],
): void {
  const { part, toolCallId } = context;
  const untilMs = clock.nowMs() + outcomeWaitMs;
  invocations.awaitOutcome(context, untilMs);
  journal.append([{ type: "tool_call_waiting", part, toolCallId, untilMs }]);
}

const DISPATCHED_WRITE = { ...NOT_DISPATCHED, dispatched: true, mutates: true };
const CONFIRMED = "an operator confirmed that this happened; its result is not known";
const STOPPED = errorOf(
  "outcome_unknown",
  "the run was stopped before anybody found out whether this happened",
);
const NOT_COMMITTED = errorOf("not_committed");
const UNANSWERED = failCall("outcome_unknown").failure;

function addError(failure: ToolFailure, error: FieldError): ToolFailure {
  return { ...failure, errors: [...failure.errors, error] };
}

function ended(result: ToolExecResult | typeof WAITING): Resolved {
  return { kind: "ended", result };
}
