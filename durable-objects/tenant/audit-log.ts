import { createHash } from "node:crypto";
import type { AuditPage, AuditQuery } from "../../src/capabilities/audit.ts";
import {
  entryText,
  GENESIS_HASH,
  linkText,
  type AuditHead,
  type AuditRecord,
} from "../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { hasTable } from "../has-table.ts";

/** Records that one read scans, before its filters. */
const MAX_SCANNED = 5_000;
/** Largest page. A page ends after the record that passes this size. Unit: UTF-16 code units. */
const MAX_PAGE_CHARS = 2 * 1024 * 1024;

type AuditRow = { seq: number; prev_hash: string; hash: string; entry: string };

/**
 * A tenant's audit log in SQLite: append-only; each record holds the hash of the one before it.
 * Ownership: one per tenant object; the only writer of the `audit` table. Rows never change and are
 * never deleted.
 * Contract: synchronous. The hash is synchronous too, so the number, the hash and the other writes
 * of the caller are one transaction.
 */
export class AuditLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS audit (
         seq INTEGER PRIMARY KEY, action TEXT NOT NULL, at_ms INTEGER NOT NULL, run_id TEXT,
         prev_hash TEXT NOT NULL, hash TEXT NOT NULL, entry TEXT NOT NULL
       );
       CREATE INDEX IF NOT EXISTS audit_of_run ON audit (run_id, seq) WHERE run_id IS NOT NULL;`,
    );
  }

  append(entry: AuditEntry): void {
    const { seq: last, hash: prevHash } = this.#last();
    const seq = last + 1;
    const text = entryText(entry);
    const link = linkText({ seq, prevHash, entryText: text });
    const digest = createHash("sha256").update(link).digest("hex");
    this.#sql.exec(
      `INSERT INTO audit (seq, action, at_ms, run_id, prev_hash, hash, entry)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      seq,
      entry.action,
      Date.parse(entry.at),
      entry.runId ?? null,
      prevHash,
      `sha256:${digest}`,
      text,
    );
  }

  read({ after, limit, action, runId, fromMs, toMs }: AuditQuery): AuditPage {
    if (!hasTable(this.#sql, "audit")) return { items: [], head: NO_HEAD };
    const head = this.#last();
    // The index by run holds only records of that run, so no scan limit is needed.
    const lastScanned = runId === undefined ? after + MAX_SCANNED : Number.MAX_SAFE_INTEGER;
    const rows = this.#sql.exec<AuditRow>(
      `SELECT seq, prev_hash, hash, entry FROM audit
       WHERE seq > ?1 AND seq <= ?2 AND (?3 IS NULL OR action = ?3) AND at_ms >= ?4 AND at_ms < ?5
         ${runId === undefined ? "AND ?6 IS NULL" : "AND run_id = ?6"}
       ORDER BY seq LIMIT ?7`,
      after,
      lastScanned,
      action ?? null,
      fromMs ?? 0,
      toMs ?? Number.MAX_SAFE_INTEGER,
      runId ?? null,
      limit + 1,
    );
    const { items, isCut } = takePage(rows, limit);
    const next = isCut ? (items.at(-1)?.seq ?? after) : lastScanned;
    return next < head.seq ? { items, head, next } : { items, head };
  }

  #last(): AuditHead {
    const [row] = this.#sql
      .exec<AuditHead & Record<string, SqlStorageValue>>(
        "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1",
      )
      .toArray();
    return row ?? NO_HEAD;
  }
}

const NO_HEAD: AuditHead = { seq: 0, hash: GENESIS_HASH };

/** Takes rows until the page is full, by number or by size; at least one row. */
function takePage(
  rows: Iterable<AuditRow>,
  limit: number,
): { readonly items: readonly AuditRecord[]; readonly isCut: boolean } {
  const items: AuditRecord[] = [];
  let chars = 0;
  for (const { seq, prev_hash: prevHash, hash, entry } of rows) {
    if (items.length >= limit || chars > MAX_PAGE_CHARS) return { items, isCut: true };
    items.push({ seq, entry: JSON.parse(entry) as AuditEntry, prevHash, hash });
    chars += entry.length;
  }
  return { items, isCut: false };
}
