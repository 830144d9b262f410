import type {
  AuditRow,
  AuditStretch,
  RemovalPlan,
  RemovalQuery,
} from "../../../src/capabilities/audit.ts";
import {
  entryText,
  GENESIS_HASH,
  linkText,
  type AuditHead,
  type AuditRecord,
} from "../../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ListPage } from "../../../src/protocol/list/page.ts";
import { hashNow } from "../../hash-now.ts";
import { hasTable } from "../../has-table.ts";
import { packRunId } from "../../packed-run-id.ts";
import { recordOf, SELECT_CHAINED, toAuditRow, unpackHash, type ChainedRow } from "./audit-rows.ts";

/** Records that one read scans, before its filters. */
const MAX_SCANNED = 5_000;
/** Largest page. A page ends after the record that passes this size. Unit: UTF-16 code units. */
const MAX_PAGE_CHARS = 2 * 1024 * 1024;
/** Records that are looked through for old ones, or moved, at once. */
const MAX_ROWS = 1_000;
/** Bytes that are moved at once, and one record more. */
const MAX_MOVED_BYTES = 2 * 1024 * 1024;

/** The chain before its first record. */
export const NO_HEAD: AuditHead = { seq: 0, hash: GENESIS_HASH };

/**
 * Records of an audit log in SQLite: append-only; the hash of each record covers that of the one
 * before it. A hash is that of the whole text, of which a row stores nothing twice.
 * Ownership: one per object; the only writer of the `audit` table. Rows never change. The oldest
 * ones move to an archive or are removed; the newest one of a tenant's object always stays.
 * Contract: synchronous. The hash is synchronous too, so the number, the hash and the other writes
 * of the caller are one transaction.
 */
export class AuditLog {
  readonly #sql: SqlStorage;
  #hasTable = false;

  constructor({ sql }: Pick<DurableObjectStorage, "sql">) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS audit (
         seq INTEGER PRIMARY KEY, action TEXT NOT NULL, at_ms INTEGER NOT NULL, run_id,
         hash BLOB NOT NULL, bytes INTEGER NOT NULL, entry NOT NULL
       );
       CREATE INDEX IF NOT EXISTS audit_of_run ON audit (run_id, seq) WHERE run_id IS NOT NULL;`,
    );
  }

  /** Adds records; answers the size of their entries. Unit: UTF-16 code units of JSON. */
  append(...entries: readonly AuditEntry[]): number {
    const last = this.#newest(1);
    let { head } = last;
    let { bytes } = last;
    let chars = 0;
    for (const entry of entries) {
      const text = entryText(entry);
      const seq = head.seq + 1;
      head = { seq, hash: hashNow(linkText({ seq, prevHash: head.hash, entryText: text })) };
      const row = toAuditRow(entry, head, bytes);
      this.put(row);
      ({ bytes } = row);
      chars += text.length;
    }
    return chars;
  }

  /** Stores a row. Fails: throws when there is one of this number. */
  put({ seq, action, at_ms: atMs, run_id: runId, hash, bytes, entry }: AuditRow): void {
    this.#sql.exec(
      `INSERT INTO audit (seq, action, at_ms, run_id, hash, bytes, entry)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      seq,
      action,
      atMs,
      runId,
      hash,
      bytes,
      entry,
    );
  }

  /** The newest record. */
  head(): AuditHead {
    return this.#newest(1).head;
  }

  /** The record before the newest one. */
  beforeHead(): AuditHead {
    return this.#newest(2).head;
  }

  /** Stored bytes, without those of the oldest record. */
  bytes(): number {
    if (!this.#exists) return 0;
    const [oldest] = this.#sql
      .exec<{ bytes: number }>("SELECT bytes FROM audit ORDER BY seq LIMIT 1")
      .toArray();
    return this.#newest(1).bytes - (oldest?.bytes ?? 0);
  }

  /** Time of the oldest record that may be removed; undefined when there is none. */
  oldestMs(): number | undefined {
    if (!this.#exists) return undefined;
    const [oldest, next] = this.#sql
      .exec<{ at_ms: number }>("SELECT at_ms FROM audit ORDER BY seq LIMIT 2")
      .toArray();
    return next && oldest?.at_ms;
  }

  /** Reads a page. `next`: the last record that was looked at; absent at the end of the stretch. */
  read(stretch: AuditStretch): ListPage<AuditRecord, number> {
    const { after, limit, action, runId, fromMs, toMs, start, lastSeq } = stretch;
    if (!this.#exists) return { items: [] };
    // The index by run holds only records of that run, so no scan limit is needed.
    const lastScanned = runId === undefined ? Math.min(after + MAX_SCANNED, lastSeq) : lastSeq;
    const rows = this.#sql.exec<ChainedRow>(
      `${SELECT_CHAINED} WHERE audit.seq > ?1 AND audit.seq <= ?2
         AND (?3 IS NULL OR audit.action = ?3) AND audit.at_ms >= ?4 AND audit.at_ms < ?5
         ${runId === undefined ? "AND ?6 IS NULL" : "AND audit.run_id = ?6"}
       ORDER BY audit.seq LIMIT ?7`,
      after,
      lastScanned,
      action ?? null,
      fromMs ?? 0,
      toMs ?? Number.MAX_SAFE_INTEGER,
      runId === undefined ? null : packRunId(runId),
      limit + 1,
    );
    const { items, isCut } = takePage(rows, { limit, start });
    const next = isCut ? (items.at(-1)?.seq ?? after) : lastScanned;
    return { items, ...(next < lastSeq && { next }) };
  }

  /** Reads rows as they are stored, as many as one message holds. */
  rows({ after, lastSeq }: Pick<AuditStretch, "after" | "lastSeq">): readonly AuditRow[] {
    const rows: AuditRow[] = [];
    for (const row of this.#sql.exec<AuditRow>(
      "SELECT * FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
      after,
      lastSeq,
      MAX_ROWS,
    )) {
      rows.push(row);
      if (row.bytes - (rows[0]?.bytes ?? 0) > MAX_MOVED_BYTES) break;
    }
    return rows;
  }

  /** Finds the oldest records of before a time: all up to the first that is newer, or a bound. */
  planRemoval({ start, lastSeq, beforeMs }: RemovalQuery): RemovalPlan {
    const rows = this.#exists
      ? this.#sql
          .exec<ChainedRow>(
            `${SELECT_CHAINED} WHERE audit.seq > ? AND audit.seq <= ?
             ORDER BY audit.seq LIMIT ?`,
            start.seq,
            lastSeq,
            MAX_ROWS,
          )
          .toArray()
      : [];
    if (rows.length === 0 && lastSeq > start.seq) return "broken";
    let last: (AuditHead & { readonly at: string }) | undefined;
    for (const row of rows) {
      const record = recordOf(row, start);
      if (!follows(record, last ?? start)) return "broken";
      const { at } = record.entry;
      const nextMs = Date.parse(at);
      if (nextMs >= beforeMs) return { ...(last && { last }), nextMs };
      last = { seq: record.seq, hash: record.hash, at };
    }
    return last ? { last } : {};
  }

  deleteUpTo(seq: number): void {
    if (this.#exists) this.#sql.exec("DELETE FROM audit WHERE seq <= ?", seq);
  }

  get #exists(): boolean {
    return (this.#hasTable ||= hasTable(this.#sql, "audit"));
  }

  /** The newest record but `number - 1`, and the bytes of all records up to it. */
  #newest(number: number): { readonly head: AuditHead; readonly bytes: number } {
    const row = this.#exists
      ? this.#sql
          .exec<Pick<AuditRow, "seq" | "hash" | "bytes">>(
            "SELECT seq, hash, bytes FROM audit ORDER BY seq DESC LIMIT ?",
            number,
          )
          .toArray()[number - 1]
      : undefined;
    if (!row) return { head: NO_HEAD, bytes: 0 };
    return { head: { seq: row.seq, hash: unpackHash(row.hash) }, bytes: row.bytes };
  }
}

/** Tells whether a stored record follows the record before it. */
function follows({ seq, prevHash, hash, entry }: AuditRecord, last: AuditHead): boolean {
  const isNext = seq === last.seq + 1 && prevHash === last.hash;
  return isNext && hash === hashNow(linkText({ seq, prevHash, entryText: entryText(entry) }));
}

/** Takes rows until the page is full, by number or by size; at least one row. */
function takePage(
  rows: Iterable<ChainedRow>,
  { limit, start }: { readonly limit: number; readonly start: AuditHead },
): { readonly items: readonly AuditRecord[]; readonly isCut: boolean } {
  const items: AuditRecord[] = [];
  let chars = 0;
  for (const row of rows) {
    if (items.length >= limit || chars > MAX_PAGE_CHARS) return { items, isCut: true };
    const record = recordOf(row, start);
    items.push(record);
    chars += JSON.stringify(record.entry).length;
  }
  return { items, isCut: false };
}
