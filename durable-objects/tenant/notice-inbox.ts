import { hasTable } from "../has-table.ts";

/** Runs of which one new one clears away the numbers. */
const MAX_FORGOTTEN = 100;

/**
 * Which notices of each run have come. Runs send them in order, so the last number says it all.
 * Ownership: one per tenant object; the only writer of the `heard` table.
 * Contract: synchronous, and of no effect outside the caller's transaction.
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

  /** The last number that came from a run, 0 when none did. */
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

  /** Forgets some runs that have been silent since a time, longer than any of them retries. */
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
