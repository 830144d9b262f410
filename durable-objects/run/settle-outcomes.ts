import type { Settlement, ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { OpenRun } from "./open-run.ts";
import { isAwaited } from "./stored-invocations.ts";

/**
 * Takes the word of an operator on what became of a call.
 * Contract: the first one stays; one that comes too late, or to a run that is being stopped, is not taken.
 */
export function settleOutcome(
  run: OpenRun,
  number: number,
  settlement: Settlement,
): "settled" | "not_awaited" {
  const { invocations, journal, store } = run;
  const record = invocations.find(number);
  if (record?.settlement) {
    return record.settlement.outcome === settlement.outcome ? "settled" : "not_awaited";
  }
  if (!record || journal.hasEnded || !isAwaited(record)) return "not_awaited";
  // A run that is being stopped closes its questions, and one whose time is up is closed already.
  const isLate = (record.awaitedUntilMs ?? 0) <= settlement.atMs;
  if (isLate || store.lives().stop !== null) return "not_awaited";
  keep(run, record, settlement);
  return "settled";
}

/** Closes the questions to operators whose time is up. */
export function expireOutcomes(run: OpenRun, atMs: number): void {
  for (const record of run.invocations.awaited()) {
    if ((record.awaitedUntilMs ?? 0) <= atMs) keep(run, record, { outcome: "expired", atMs });
  }
}

function keep(
  { invocations, notices }: OpenRun,
  record: ToolInvocationRecord,
  settlement: Settlement,
): void {
  invocations.settle(record.number, settlement);
  notices.settled(record, settlement);
}
