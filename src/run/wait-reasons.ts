import {
  awaitsRetry,
  hasUnknownOutcome,
  type ToolInvocationRecord,
} from "../protocol/invocation/record.ts";
import type { Run } from "./run.ts";
import { awaitsOperator } from "./invocations.ts";

type WaitingRun = Pick<Run, "approvals" | "inbox" | "invocations" | "store">;

/** Why a run whose loop has stopped waits. */
export interface WaitReasons {
  /** A person has to decide something. The run's time then stands still. */
  readonly awaitsPeople: boolean;
  /** Earliest expiry of an unknown outcome that an operator may resolve; absent without one. */
  readonly outcomeUntilMs?: number;
  /** Earliest attempt that is planned; absent without one. */
  readonly retryAtMs?: number;
}

/**
 * Finds why a run waits after its loop stopped; undefined when the loop must start again.
 * Contract: each answer of a person restarts the loop once, because the loop consumes the answer.
 */
export function waitReasonsOf(run: WaitingRun): WaitReasons | undefined {
  const { approvals, store } = run;
  const open = openCalls(run);
  const isStopped = store.incarnations().stop !== null;
  if (isStopped || open.some((record) => isAnswered(run, record)) || isWithdrawnBySteering(run)) {
    return undefined;
  }
  const untilMs = open.filter(awaitsOperator).map(({ awaitedUntilMs = 0 }) => awaitedUntilMs);
  const attemptsMs = restingCalls(run).map(({ retry }) => retry?.atMs ?? 0);
  return {
    awaitsPeople: attemptsMs.length === 0 || untilMs.length > 0 || approvals.pending().length > 0,
    ...(untilMs.length > 0 && { outcomeUntilMs: Math.min(...untilMs) }),
    ...(attemptsMs.length > 0 && { retryAtMs: Math.min(...attemptsMs) }),
  };
}

function openCalls({ invocations }: WaitingRun): readonly ToolInvocationRecord[] {
  return invocations.all().filter(({ end }) => end === undefined);
}

/** Lists the calls that wait for the time of their next attempt. */
function restingCalls(run: WaitingRun): readonly ToolInvocationRecord[] {
  const planned = openCalls(run).filter(awaitsRetry);
  if (planned.length === 0) return planned;
  const asked = new Set(run.approvals.pending().map(({ invocation }) => invocation));
  return planned.filter(({ number }) => !asked.has(number));
}

/** True when the approval or the outcome that a call waits for has arrived, and has an effect. */
function isAnswered(run: WaitingRun, record: ToolInvocationRecord): boolean {
  const { number, resolution, awaitedUntilMs } = record;
  if (resolution) return true;
  const isClosed = awaitedUntilMs === undefined && run.approvals.hasClosedApproval(number);
  return isClosed && !isHeldBack(run, number);
}

/** Tells whether a call waits behind another one: the loop does not begin it before that one. */
function isHeldBack(run: WaitingRun, number: number): boolean {
  return restingCalls(run).some((resting) => resting.number <= number);
}

/**
 * True when a steering message withdraws a call: one that waits for approval and was never
 * dispatched. A message that withdraws none is read when the run continues for another reason.
 */
export function isWithdrawnBySteering(run: WaitingRun): boolean {
  if (!run.inbox.hasSteering) return false;
  // A saga that has begun makes its steps, whatever the message says.
  const isKept = (record: ToolInvocationRecord): boolean =>
    hasUnknownOutcome(record) || record.saga !== undefined;
  const kept = new Set(
    openCalls(run)
      .filter(isKept)
      .map(({ number }) => number),
  );
  return run.approvals
    .pending()
    .some(({ invocation }) => !kept.has(invocation) && !isHeldBack(run, invocation));
}
