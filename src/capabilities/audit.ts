import type { AuditHead, AuditRecord } from "../protocol/audit/chain.ts";
import type { AuditAction, AuditEntry } from "../protocol/audit/entry.ts";
import type { SignedRemoval } from "../protocol/audit/removed.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import type { ListPage } from "../protocol/list/page.ts";

/** Filter of audit records. Times in Unix milliseconds. */
export interface AuditQuery {
  readonly action?: AuditAction;
  readonly runId?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly limit: number;
  /** Number of the last record that the caller knows; 0 for none. */
  readonly after: number;
}

/** Records in order, and the head of the chain at the time of the read. */
export interface AuditPage extends ListPage<AuditRecord, number> {
  readonly head: AuditHead;
  /** The records before the page that the retention removed; absent when there are none. */
  readonly removed?: SignedRemoval;
}

/**
 * The audit log of a tenant, append-only and hash-chained.
 * Contract: `record` resolves once the entry is durable; a repeated call records the entry twice.
 * `read` scans a bounded part of the log, so a page may hold fewer records than `limit`, or none,
 * and still have a `next`. Both throw when the tenant's object cannot be reached.
 */
export interface AuditTrail {
  record(tenantId: TenantId, entry: AuditEntry): Promise<void>;
  read(tenantId: TenantId, query: AuditQuery): Promise<AuditPage>;
}

/** Signs the summaries of removed records. Contract: the same text has the same signature. */
export interface AuditSigner {
  sign(text: string): Promise<string>;
  /** Tells whether a signature is its own, or one of the older secret during a rotation. */
  hasSigned(text: string, signature: string): Promise<boolean>;
  /** Ed25519, base64url. */
  publicKey(): Promise<string>;
}
