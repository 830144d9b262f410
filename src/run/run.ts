import type { RunApprovals } from "./approvals/run-approvals.ts";
import type { RunNotices } from "./notices/run-notices.ts";
import type { RunInvocations } from "./invocations.ts";
import type { StoredRun } from "./stored-run.ts";

/**
 * A claimed run: what it stores, and the parts that change it. Contract: its calls, approvals and
 * notices are changed only through their part here.
 */
export interface Run extends StoredRun {
  readonly invocations: RunInvocations;
  readonly approvals: RunApprovals;
  readonly notices: RunNotices;
}
