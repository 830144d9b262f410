import type { AuditPage, AuditQuery } from "../../../src/capabilities/audit.ts";
import {
  entryText,
  GENESIS_HASH,
  linkText,
  type AuditHead,
  type AuditLink,
  type AuditRecord,
} from "../../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { RemovedRecords, SignedRemoval } from "../../../src/protocol/audit/removed.ts";
import { hashNow } from "../../hash-now.ts";
import { hasTable } from "../../has-table.ts";
import { packText, unpackText, type PackedText } from "../../packed-text.ts";

/** Records that one read scans, before its filters. */
const MAX_SCANNED = 5_000;
/** Largest page. A page ends after the record that passes this size. Unit: UTF-16 code units. */
const MAX_PAGE_CHARS = 2 * 1024 * 1024;

type AuditRow = { seq: number; prev_hash: string; hash: string; entry: PackedText };

/**
 * A tenant's audit log in SQLite: append-only; each record holds the hash of the one before it.
 * Long entries are compressed; a hash is that of the whole text.
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
         seq INTEGER PRIMARY KEY, action TEXT NOT NULL, at_ms INTEGER NOT NULL, run_id TEXT,
         prev_hash TEXT NOT NULL, hash TEXT NOT NULL, entry TEXT NOT NULL
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
    const hash = hashLink({ seq, prevHash, entryText: text });
    this.#sql.exec(
      `INSERT INTO audit (seq, action, at_ms, run_id, prev_hash, hash, entry)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      seq,
      entry.action,
      Date.parse(entry.at),
      entry.runId ?? null,
      prevHash,
      hash,
      packText(text).packed,
    );
    return { seq, hash };
  }

  read({ after, limit, action, runId, fromMs, toMs }: AuditQuery): AuditPage {
    if (!hasTable(this.#sql, "audit")) return { items: [], head: NO_HEAD };
    const head = this.#last();
    const removed = this.removed();
    const isCutBefore = removed !== undefined && after < removed.lastSeq;
    const first = isCutBefore ? removed.lastSeq : after;
    // The index by run holds only records of that run, so no scan limit is needed.
    const lastScanned = runId === undefined ? first + MAX_SCANNED : Number.MAX_SAFE_INTEGER;
    const rows = this.#sql.exec<AuditRow>(
      `SELECT seq, prev_hash, hash, entry FROM audit
       WHERE seq > ?1 AND seq <= ?2 AND (?3 IS NULL OR action = ?3) AND at_ms >= ?4 AND at_ms < ?5
         ${runId === undefined ? "AND ?6 IS NULL" : "AND run_id = ?6"}
       ORDER BY seq LIMIT ?7`,
      first,
      lastScanned,
      action ?? null,
      fromMs ?? 0,
      toMs ?? Number.MAX_SAFE_INTEGER,
      runId ?? null,
      limit + 1,
    );
    const { items, isCut } = takePage(rows, limit);
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
    const { lastSeq: seq = 0, lastHash: hash = GENESIS_HASH, lastAt = "" } = this.removed() ?? {};
    let last = { seq, hash, at: lastAt };
    const rows = this.#sql.exec<AuditRow>(
      `SELECT seq, prev_hash, hash, entry FROM audit WHERE seq < ? ORDER BY seq LIMIT ?`,
      this.#last().seq,
      limit,
    );
    for (const row of rows) {
      if (!follows(row, last)) return "broken";
      // The hash covers the time of the entry, but not the column `at_ms`.
      const { at } = JSON.parse(unpackText(row.entry)) as AuditEntry;
      if (Date.parse(at) >= beforeMs) break;
      last = { seq: row.seq, hash: row.hash, at };
    }
    if (last.seq === seq) return undefined;
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
      .exec<AuditHead & Record<string, SqlStorageValue>>(
        "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1",
      )
      .toArray();
    return row ?? NO_HEAD;
  }
}

function hashLink(link: AuditLink): string {
  return hashNow(linkText(link));
}

/** Tells whether a stored record follows the record before it. */
function follows({ seq, prev_hash: prevHash, hash, entry }: AuditRow, last: AuditHead): boolean {
  const isNext = seq === last.seq + 1 && prevHash === last.hash;
  return isNext && hash === hashLink({ seq, prevHash, entryText: unpackText(entry) });
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
    const text = unpackText(entry);
    items.push({ seq, entry: JSON.parse(text) as AuditEntry, prevHash, hash });
    chars += text.length;
  }
  return { items, isCut: false };
}
