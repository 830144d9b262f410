import type { ApprovalSummary } from "../approval/view.ts";
import type { AuditEntry } from "../audit/entry.ts";
import type { AwaitedOutcome } from "./awaited-outcome.ts";
import type { RunSummary } from "./summary.ts";

/** A notice from a run to its TenantObject. A newer one of the same run or approval replaces it. */
export type TenantNotice =
  | {
      readonly type: "run";
      readonly run: RunSummary;
      /** The calls of the run with an unknown outcome; absent without any. */
      readonly outcomes?: readonly AwaitedOutcome[];
    }
  | { readonly type: "approval"; readonly approval: ApprovalSummary }
  | { readonly type: "audit"; readonly entry: AuditEntry };
