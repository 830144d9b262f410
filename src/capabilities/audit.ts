import type { AuditHead, AuditRecord } from "../protocol/audit/chain.ts";
import type { AuditAction, AuditEntry } from "../protocol/audit/entry.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import type { ListPage } from "../protocol/list/page.ts";

/** Which records are asked for. Times in Unix milliseconds. */
export interface AuditQuery {
  readonly action?: AuditAction;
  readonly runId?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly limit: number;
  /** The last record that is known already; 0 at the beginning. */
  readonly after: number;
}

/** Records in their order, and where the chain ended when they were read. */
export interface AuditPage extends ListPage<AuditRecord, number> {
  readonly head: AuditHead;
}

/**
 * Keeps what happened in a tenant, append-only and hash-chained.
 * Contract: `record` resolves once the entry is durable, and may record one entry twice when it is asked
 * twice. `read` goes through a bounded stretch of the log, so a page may hold fewer than `limit`, or none, and have a
 * `next`. Both throw when the tenant's object cannot be reached.
 */
export interface AuditTrail {
  record(tenantId: TenantId, entry: AuditEntry): Promise<void>;
  read(tenantId: TenantId, query: AuditQuery): Promise<AuditPage>;
}
