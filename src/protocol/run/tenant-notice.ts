import type { ApprovalSummary } from "../approval/view.ts";
import type { AuditEntry } from "../audit/entry.ts";
import type { RunSummary } from "./summary.ts";

/** What a run tells the object of its tenant; the newest of a run or an approval replaces the earlier one. */
export type TenantNotice =
  | { readonly type: "run"; readonly run: RunSummary }
  | { readonly type: "approval"; readonly approval: ApprovalSummary }
  | { readonly type: "audit"; readonly entry: AuditEntry };
