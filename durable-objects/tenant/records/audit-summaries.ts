import type { AuditHead } from "../../../src/protocol/audit/chain.ts";
import type { SignedCheckpoint } from "../../../src/protocol/audit/checkpoint.ts";
import type { SignedRemoval } from "../../../src/protocol/audit/removed.ts";
import { hasTable } from "../../has-table.ts";
import { NO_HEAD } from "./audit-log.ts";

/** A closed segment of an audit log. */
export interface Segment {
  /** Its archive; see AuditArchives. */
  readonly place: string;
  /** The last record that is there; before the first one, the record before the segment. */
  readonly moved: AuditHead;
  /** No record of the segment is older. */
  readonly oldestMs: number;
  readonly checkpoint: SignedCheckpoint;
}

/** Number of the row with the summary of removed records. */
const REMOVED = 0;

/**
 * What a tenant's object stores of the audit records that it holds no longer: the summary of those
 * that the retention removed, and the closed segments.
 * Ownership: one per tenant object; the only writer of the `audit_summaries` table, one row for
 * each segment, by its last record.
 * Contract: synchronous.
 */
export class AuditSummaries {
  readonly #sql: SqlStorage;

  constructor({ sql }: Pick<DurableObjectStorage, "sql">) {
    this.#sql = sql;
  }

  /** The summary of the records that the retention removed. */
  removed(): SignedRemoval | undefined {
    return this.#read("last_seq = ?")[0] as SignedRemoval | undefined;
  }

  /** The segments, the oldest first. */
  segments(): readonly Segment[] {
    return this.#read("last_seq > ?") as readonly Segment[];
  }

  putRemoved(removed: SignedRemoval): void {
    this.#put(REMOVED, removed);
  }

  putSegment(segment: Segment): void {
    this.#put(segment.checkpoint.lastSeq, segment);
  }

  forget({ checkpoint }: Segment): void {
    this.#sql.exec("DELETE FROM audit_summaries WHERE last_seq = ?", checkpoint.lastSeq);
  }

  /** The record before the oldest one that is neither removed nor in one of these segments. */
  startAfter(segments: readonly Segment[]): AuditHead {
    const last = segments.at(-1)?.moved ?? NO_HEAD;
    const removed = this.removed();
    return removed && removed.lastSeq >= last.seq
      ? { seq: removed.lastSeq, hash: removed.lastHash }
      : last;
  }

  #read(which: string): readonly unknown[] {
    if (!hasTable(this.#sql, "audit_summaries")) return [];
    return this.#sql
      .exec<{ body: string }>(
        `SELECT body FROM audit_summaries WHERE ${which} ORDER BY last_seq`,
        REMOVED,
      )
      .toArray()
      .map(({ body }) => JSON.parse(body) as unknown);
  }

  #put(lastSeq: number, summary: SignedRemoval | Segment): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS audit_summaries (
         last_seq INTEGER PRIMARY KEY, body TEXT NOT NULL
       )`,
    );
    this.#sql.exec(
      "INSERT OR REPLACE INTO audit_summaries (last_seq, body) VALUES (?, ?)",
      lastSeq,
      JSON.stringify(summary),
    );
  }
}

/** Tells whether records of a segment are still in the tenant's object. */
export function isMoving({ moved, checkpoint }: Segment): boolean {
  return moved.seq < checkpoint.lastSeq;
}
