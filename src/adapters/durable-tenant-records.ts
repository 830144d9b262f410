import type { ApprovalQuery, ApprovalQueue } from "../capabilities/approval.ts";
import type { AuditPage, AuditQuery, AuditTrail } from "../capabilities/audit.ts";
import type { RunDirectory, RunQuery, SentNotice, TenantInbox } from "../capabilities/tenant.ts";
import type { ApprovalSummary } from "../protocol/approval/view.ts";
import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { RunId, TenantId } from "../protocol/identity/ids.ts";
import type { RunSummary } from "../protocol/run/summary.ts";
import type { ListPage } from "../protocol/list/page.ts";

/** What a tenant's object answers about its runs. */
interface RecordMethods {
  receive(runId: RunId, sent: readonly SentNotice[]): Promise<void>;
  record(entry: AuditEntry): Promise<void>;
  runs(query: RunQuery): Promise<ListPage<RunSummary>>;
  approvals(query: ApprovalQuery): Promise<ListPage<ApprovalSummary>>;
  audit(query: AuditQuery): Promise<AuditPage>;
}

export interface TenantRecordsGateway {
  readonly directory: RunDirectory;
  readonly queue: ApprovalQueue;
  readonly trail: AuditTrail;
  inboxOf(tenantId: TenantId): TenantInbox;
}

/** Reaches what each tenant's Durable Object keeps of its runs, by the tenant's id. */
export function createDurableTenantRecords(tenants: DurableObjectNamespace): TenantRecordsGateway {
  const objectOf = (tenantId: TenantId): DurableObjectStub & RecordMethods =>
    tenants.get(tenants.idFromName(tenantId)) as DurableObjectStub & RecordMethods;
  return {
    directory: { list: (tenantId, query) => objectOf(tenantId).runs(query) },
    queue: { list: (tenantId, query) => objectOf(tenantId).approvals(query) },
    trail: {
      record: (tenantId, entry) => objectOf(tenantId).record(entry),
      read: (tenantId, query) => objectOf(tenantId).audit(query),
    },
    inboxOf: (tenantId) => ({
      async receive(runId, notices) {
        try {
          await objectOf(tenantId).receive(runId, notices);
          return true;
        } catch {
          // It may have been taken or not; sent again, it counts once.
          return false;
        }
      },
    }),
  };
}
