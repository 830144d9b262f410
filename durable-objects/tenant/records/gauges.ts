import type { TenantGauges } from "../../../src/protocol/metric/measures.ts";
import type { KeptLists } from "./retention.ts";

/** Counts what is open at this moment. */
export function readGauges(
  { runs, approvals, outcomes, escalations }: KeptLists,
  nowMs: number,
): Omit<TenantGauges, "retentionLateMs"> {
  return {
    ...runs.open(),
    openApprovals: approvals.countOpen(nowMs),
    awaitedOutcomes: outcomes.count(nowMs),
    openEscalations: escalations.countOpen(),
  };
}
