import { hasTable } from "../has-table.ts";

/** Rows of silent runs that one delivery deletes. */
const MAX_FORGOTTEN = 100;

/**
 * The number of the last notice of each run. Runs send notices in order, so the last number is
 * enough.
 * Ownership: one per tenant object; the only writer of the `heard` table.
 * Contract: synchronous; call it inside a transaction.
 */
export class NoticeInbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS heard (
         run_id TEXT PRIMARY KEY, last_seq INTEGER NOT NULL, heard_ms INTEGER NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS heard_by_age ON heard (heard_ms);`,
    );
  }

  /** Number of the last notice of a run; 0 when none arrived. */
  lastOf(runId: string): number {
    const [row] = this.#sql
      .exec<{ last: number }>("SELECT last_seq AS last FROM heard WHERE run_id = ?", runId)
      .toArray();
    return row?.last ?? 0;
  }

  note(runId: string, lastSeq: number, nowMs: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO heard (run_id, last_seq, heard_ms) VALUES (?, ?, ?)",
      runId,
      lastSeq,
      nowMs,
    );
  }

  /** Deletes rows of some runs that sent nothing since a time. A run retries sooner than that. */
  forget(silentSinceMs: number): void {
    if (!hasTable(this.#sql, "heard")) return;
    this.#sql.exec(
      `DELETE FROM heard WHERE run_id IN (
         SELECT run_id FROM heard WHERE heard_ms < ? ORDER BY heard_ms LIMIT ?)`,
      silentSinceMs,
      MAX_FORGOTTEN,
    );
  }
}
