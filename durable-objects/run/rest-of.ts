import {
  hasUnknownOutcome,
  type ToolInvocationRecord,
} from "../../src/protocol/invocation/record.ts";
import type { OpenRun } from "./open-run.ts";
import { isAwaited } from "./stored-invocations.ts";

/** What a run whose loop came to rest waits for. */
export interface Rest {
  /** People are asked. */
  readonly asksPeople: boolean;
  /** Until when an operator may tell what became of a call; absent when nobody is asked. */
  readonly outcomeUntilMs?: number;
}

/**
 * Tells what a run waits for whose loop has not ended it; undefined when it goes on, for there is word.
 * Contract: a loop that finds no use for a word leaves none, so that none starts it over and over.
 */
export function restOf(run: OpenRun): Rest | undefined {
  const { store, invocations, approvals } = run;
  const open = invocations.all().filter(({ end }) => end === undefined);
  const isStopped = store.lives().stop !== null;
  if (isStopped || open.some((record) => hasWord(run, record)) || takesBack(run, open)) {
    return undefined;
  }
  const untilMs = open.filter(isAwaited).map(({ awaitedUntilMs = 0 }) => awaitedUntilMs);
  return {
    asksPeople: approvals.pending().length > 0,
    ...(untilMs.length > 0 && { outcomeUntilMs: Math.min(...untilMs) }),
  };
}

/** Somebody has said what a call waits for. */
function hasWord(
  { approvals }: OpenRun,
  { number, settlement, awaitedUntilMs }: ToolInvocationRecord,
): boolean {
  if (settlement) return true;
  return awaitedUntilMs === undefined && approvals.hasWord(number);
}

/** What a person says takes the calls back that people have not approved yet, but none that has begun. */
function takesBack({ approvals, inbox }: OpenRun, open: readonly ToolInvocationRecord[]): boolean {
  if (!inbox.hasSteering) return false;
  const begun = new Set(open.filter(hasUnknownOutcome).map(({ number }) => number));
  return approvals.pending().some(({ invocation }) => !begun.has(invocation));
}
