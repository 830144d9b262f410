import {
  hasUnknownOutcome,
  type ToolInvocationRecord,
} from "../../src/protocol/invocation/record.ts";
import type { OpenRun } from "./open-run.ts";
import { awaitsOperator } from "./stored-invocations.ts";

/** Why a run whose loop has stopped waits. */
export interface WaitReasons {
  /** Earliest expiry of an unknown outcome that an operator may resolve; absent without one. */
  readonly outcomeUntilMs?: number;
}

/**
 * Finds why a run waits after its loop stopped; undefined when the loop must start again.
 * Contract: each answer of a person restarts the loop once, because the loop consumes the answer.
 */
export function waitReasonsOf(run: OpenRun): WaitReasons | undefined {
  const { store, invocations } = run;
  const open = invocations.all().filter(({ end }) => end === undefined);
  const isStopped = store.incarnations().stop !== null;
  if (isStopped || open.some((record) => isAnswered(run, record)) || isWithdrawnBySteering(run)) {
    return undefined;
  }
  const untilMs = open.filter(awaitsOperator).map(({ awaitedUntilMs = 0 }) => awaitedUntilMs);
  return untilMs.length > 0 ? { outcomeUntilMs: Math.min(...untilMs) } : {};
}

/** True when the approval or the outcome that a call waits for has arrived. */
function isAnswered(
  { approvals }: OpenRun,
  { number, settlement, awaitedUntilMs }: ToolInvocationRecord,
): boolean {
  if (settlement) return true;
  return awaitedUntilMs === undefined && approvals.hasClosedApproval(number);
}

/**
 * True when a steering message withdraws a call: one that waits for approval and was never
 * dispatched. A message that withdraws none is read when the run continues for another reason.
 */
export function isWithdrawnBySteering({ approvals, inbox, invocations }: OpenRun): boolean {
  if (!inbox.hasSteering) return false;
  const open = invocations.all().filter(({ end }) => end === undefined);
  const dispatched = new Set(open.filter(hasUnknownOutcome).map(({ number }) => number));
  return approvals.pending().some(({ invocation }) => !dispatched.has(invocation));
}
