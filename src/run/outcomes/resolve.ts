import type { Resolution, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { StopReason } from "../../protocol/run/facts.ts";
import type { Run } from "../run.ts";
import { awaitsOperator } from "../invocations.ts";

/** What a resolution reads of its run, and where it is stored. */
export interface ResolvedRun {
  readonly invocations: Pick<Run["invocations"], "find" | "resolve" | "awaitingOperator">;
  readonly journal: Pick<Run["journal"], "hasEnded">;
  readonly notices: Pick<Run["notices"], "outcomeResolved">;
  readonly store: { incarnations(): { readonly stop: StopReason | null } };
}

/**
 * Resolves the unknown outcome of a call as an operator reported.
 * Contract: the first report stays. A late report, and a report for a run that is stopping, answer
 * `not_awaited`.
 */
export function resolveOutcome(
  run: ResolvedRun,
  number: number,
  resolution: Resolution,
): "resolved" | "not_awaited" {
  const { invocations, journal } = run;
  const record = invocations.find(number);
  if (record?.resolution) {
    return record.resolution.outcome === resolution.outcome ? "resolved" : "not_awaited";
  }
  if (!record || journal.hasEnded || !awaitsOperator(record)) return "not_awaited";
  // A run that is stopping closes its unknown outcomes itself. The alarm closes expired ones.
  const isLate = (record.awaitedUntilMs ?? 0) <= resolution.atMs;
  if (isLate || run.store.incarnations().stop !== null) return "not_awaited";
  store(run, record, resolution);
  return "resolved";
}

/** Closes unknown outcomes that have expired. */
export function expireOutcomes(run: ResolvedRun, atMs: number): void {
  for (const record of run.invocations.awaitingOperator()) {
    if ((record.awaitedUntilMs ?? 0) <= atMs) store(run, record, { outcome: "expired", atMs });
  }
}

function store(
  { invocations, notices }: ResolvedRun,
  record: ToolInvocationRecord,
  resolution: Resolution,
): void {
  invocations.resolve(record.number, resolution);
  notices.outcomeResolved(record, resolution);
}
