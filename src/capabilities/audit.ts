import type { AuditHead, AuditRecord } from "../protocol/audit/chain.ts";
import type { SignedCheckpoint } from "../protocol/audit/checkpoint.ts";
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
  /** Of the segment that ends with this page. */
  readonly checkpoint?: SignedCheckpoint;
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

/** A record of the audit log as its table stores it; nothing is stored twice. */
export type AuditRow = {
  readonly seq: number;
  readonly action: string;
  readonly at_ms: number;
  readonly run_id: string | ArrayBuffer | null;
  readonly hash: ArrayBuffer;
  /** Bytes of all records of the log up to this one. */
  readonly bytes: number;
  /** JSON of what no other column says of the entry. */
  readonly entry: string | ArrayBuffer;
};

/** Stored records to read. */
export interface AuditStretch extends AuditQuery {
  /** The record before the oldest one that is stored. */
  readonly start: AuditHead;
  readonly lastSeq: number;
}

/** Records to look through for old ones. */
export interface RemovalQuery {
  /** The last record that was removed. */
  readonly start: AuditHead;
  readonly lastSeq: number;
  readonly beforeMs: number;
}

/** `broken`: the oldest records do not follow each other. */
export type RemovalPlan =
  | "broken"
  | {
      /** The last of the oldest records that may go. Absent: none may. */
      readonly last?: AuditHead & { readonly at: string };
      /** Time of the record after them. Absent: not looked at. */
      readonly nextMs?: number;
    };

/**
 * What an object does that keeps a closed segment of an audit log. `owner`: id of the object that
 * closed it. Another owner is told what an empty object says, and changes nothing.
 */
export interface ArchiveMethods {
  /**
   * Stores records. Contract: one that is stored stays as it is. Answers true once all are durable,
   * and false when the object is used already.
   */
  keepArchived(owner: string, rows: readonly AuditRow[]): Promise<boolean>;
  readArchived(owner: string, stretch: AuditStretch): Promise<ListPage<AuditRecord, number>>;
  /** Finds old records. Deletes those up to `start`. */
  planArchived(owner: string, query: RemovalQuery): Promise<RemovalPlan>;
  /** Deletes everything. Answers true. */
  dropArchived(owner: string): Promise<boolean>;
}

/** The archive of one segment, for its owner. */
export interface AuditArchive {
  /** Contract: never throws; false means that the records must be sent again. */
  keep(rows: readonly AuditRow[]): Promise<boolean>;
  read(stretch: AuditStretch): Promise<ListPage<AuditRecord, number>>;
  /** Contract: never throws; undefined means that the archive could not be reached. */
  plan(query: RemovalQuery): Promise<RemovalPlan | undefined>;
  /** Contract: never throws; false means that the records may be there still. */
  drop(): Promise<boolean>;
}

/**
 * Reaches the objects that keep closed segments.
 * Contract: a place is random. No tenant id leads to it, so only who stores it reaches the object.
 */
export interface AuditArchives {
  newPlace(): string;
  of(place: string, owner: string): AuditArchive;
}

/**
 * Signs the summaries of removed records and the checkpoints. Contract: the same text has the same
 * signature.
 */
export interface AuditSigner {
  sign(text: string): Promise<string>;
  /** Tells whether a signature is its own, or one of the older secret during a rotation. */
  hasSigned(text: string, signature: string): Promise<boolean>;
  /** Ed25519, base64url. */
  publicKey(): Promise<string>;
}
