import type { Settlement, ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { OpenRun } from "./open-run.ts";
import { isAwaited } from "./stored-invocations.ts";

/**
 * Resolves the unknown outcome of a call as an operator reported.
 * Contract: the first report stays; a report that is late, or for a run that is stopping, is
 * refused.
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
  // A run that is stopping closes its unknown outcomes; one that expired is closed already.
  const isLate = (record.awaitedUntilMs ?? 0) <= settlement.atMs;
  if (isLate || store.incarnations().stop !== null) return "not_awaited";
  keep(run, record, settlement);
  return "settled";
}

/** Closes unknown outcomes that have expired. */
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
