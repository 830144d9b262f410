import type { AuditPage, AuditQuery } from "../../../src/capabilities/audit.ts";
import {
  entryText,
  GENESIS_HASH,
  linkText,
  type AuditHead,
  type AuditRecord,
} from "../../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { RemovedRecords, SignedRemoval } from "../../../src/protocol/audit/removed.ts";
import { hashNow } from "../../hash-now.ts";
import { hasTable } from "../../has-table.ts";
import { packRunId } from "../../packed-run-id.ts";
import { recordOf, SELECT_CHAINED, toAuditRow, unpackHash, type ChainedRow } from "./audit-rows.ts";

/** Records that one read scans, before its filters. */
const MAX_SCANNED = 5_000;
/** Largest page. A page ends after the record that passes this size. Unit: UTF-16 code units. */
const MAX_PAGE_CHARS = 2 * 1024 * 1024;

/**
 * A tenant's audit log in SQLite: append-only; the hash of each record covers that of the one
 * before it. A hash is that of the whole text, of which a row stores nothing twice.
 * Ownership: one per tenant object; the only writer of the `audit` and `audit_removed` tables. Rows
 * never change. The retention removes the oldest ones; the newest one always stays.
 * Contract: synchronous. The hash is synchronous too, so the number, the hash and the other writes
 * of the caller are one transaction.
 */
export class AuditLog {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS audit (
         seq INTEGER PRIMARY KEY, action TEXT NOT NULL, at_ms INTEGER NOT NULL, run_id,
         hash BLOB NOT NULL, entry NOT NULL
       );
       CREATE INDEX IF NOT EXISTS audit_of_run ON audit (run_id, seq) WHERE run_id IS NOT NULL;`,
    );
  }

  /** Adds records; answers the size of their entries. Unit: UTF-16 code units of JSON. */
  append(...entries: readonly AuditEntry[]): number {
    let head = this.#last();
    let chars = 0;
    for (const entry of entries) {
      const text = entryText(entry);
      head = this.#insert(entry, text, head);
      chars += text.length;
    }
    return chars;
  }

  /** Adds one record after `head`; answers the new head. */
  #insert(entry: AuditEntry, text: string, { seq: last, hash: prevHash }: AuditHead): AuditHead {
    const seq = last + 1;
    const head = { seq, hash: hashNow(linkText({ seq, prevHash, entryText: text })) };
    const row = toAuditRow(entry, head);
    this.#sql.exec(
      "INSERT INTO audit (seq, action, at_ms, run_id, hash, entry) VALUES (?, ?, ?, ?, ?, ?)",
      row.seq,
      row.action,
      row.at_ms,
      row.run_id,
      row.hash,
      row.entry,
    );
    return head;
  }

  read({ after, limit, action, runId, fromMs, toMs }: AuditQuery): AuditPage {
    if (!hasTable(this.#sql, "audit")) return { items: [], head: NO_HEAD };
    const head = this.#last();
    const removed = this.removed();
    const isCutBefore = removed !== undefined && after < removed.lastSeq;
    const first = isCutBefore ? removed.lastSeq : after;
    // The index by run holds only records of that run, so no scan limit is needed.
    const lastScanned = runId === undefined ? first + MAX_SCANNED : Number.MAX_SAFE_INTEGER;
    const rows = this.#sql.exec<ChainedRow>(
      `${SELECT_CHAINED} WHERE audit.seq > ?1 AND audit.seq <= ?2
         AND (?3 IS NULL OR audit.action = ?3) AND audit.at_ms >= ?4 AND audit.at_ms < ?5
         ${runId === undefined ? "AND ?6 IS NULL" : "AND audit.run_id = ?6"}
       ORDER BY audit.seq LIMIT ?7`,
      first,
      lastScanned,
      action ?? null,
      fromMs ?? 0,
      toMs ?? Number.MAX_SAFE_INTEGER,
      runId === undefined ? null : packRunId(runId),
      limit + 1,
    );
    const { items, isCut } = takePage(rows, { limit, start: startOf(removed) });
    const next = isCut ? (items.at(-1)?.seq ?? first) : lastScanned;
    return { items, head, ...(next < head.seq && { next }), ...(isCutBefore && { removed }) };
  }

  /** The summary of the records that the retention removed. */
  removed(): SignedRemoval | undefined {
    if (!hasTable(this.#sql, "audit_removed")) return undefined;
    const [row] = this.#sql.exec<{ body: string }>("SELECT body FROM audit_removed").toArray();
    return row && (JSON.parse(row.body) as SignedRemoval);
  }

  /** Time of the oldest record that may be removed; undefined when there is none. */
  oldestMs(): number | undefined {
    if (!hasTable(this.#sql, "audit")) return undefined;
    const [oldest, next] = this.#sql
      .exec<{ at_ms: number }>("SELECT at_ms FROM audit ORDER BY seq LIMIT 2")
      .toArray();
    return next && oldest?.at_ms;
  }

  /**
   * Finds the oldest records of before a time, at most `limit`: all up to the first that is newer.
   * Answers undefined when there are none, and `broken` when they do not follow each other.
   */
  planRemoval(beforeMs: number, limit: number): Omit<RemovedRecords, "key"> | "broken" | undefined {
    if (!hasTable(this.#sql, "audit")) return undefined;
    const removed = this.removed();
    const start = startOf(removed);
    let last = { ...start, at: removed?.lastAt ?? "" };
    const rows = this.#sql.exec<ChainedRow>(
      `${SELECT_CHAINED} WHERE audit.seq < ? ORDER BY audit.seq LIMIT ?`,
      this.#last().seq,
      limit,
    );
    for (const row of rows) {
      const record = recordOf(row, start);
      if (!follows(record, last)) return "broken";
      const { at } = record.entry;
      if (Date.parse(at) >= beforeMs) break;
      last = { seq: record.seq, hash: record.hash, at };
    }
    if (last.seq === start.seq) return undefined;
    return {
      count: last.seq,
      firstSeq: 1,
      lastSeq: last.seq,
      lastHash: last.hash,
      lastAt: last.at,
    };
  }

  /** Removes records, and stores their summary instead. Contract: one transaction. */
  remove(removed: SignedRemoval): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `CREATE TABLE IF NOT EXISTS audit_removed (
           id INTEGER PRIMARY KEY CHECK (id = 1), body TEXT NOT NULL
         )`,
      );
      this.#sql.exec(
        "INSERT OR REPLACE INTO audit_removed (id, body) VALUES (1, ?)",
        JSON.stringify(removed),
      );
      this.#sql.exec("DELETE FROM audit WHERE seq <= ?", removed.lastSeq);
    });
  }

  #last(): AuditHead {
    const [row] = this.#sql
      .exec<{ seq: number; hash: ArrayBuffer }>(
        "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1",
      )
      .toArray();
    return row ? { seq: row.seq, hash: unpackHash(row.hash) } : NO_HEAD;
  }
}

/** Tells whether a stored record follows the record before it. */
function follows({ seq, prevHash, hash, entry }: AuditRecord, last: AuditHead): boolean {
  const isNext = seq === last.seq + 1 && prevHash === last.hash;
  return isNext && hash === hashNow(linkText({ seq, prevHash, entryText: entryText(entry) }));
}

/** The record before the oldest one. */
function startOf(removed: SignedRemoval | undefined): AuditHead {
  return removed ? { seq: removed.lastSeq, hash: removed.lastHash } : NO_HEAD;
}

const NO_HEAD: AuditHead = { seq: 0, hash: GENESIS_HASH };

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
