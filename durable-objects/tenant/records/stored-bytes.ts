import type { StorageQuery, StorageUse } from "../../../src/capabilities/storage.ts";
import { hasTable } from "../../has-table.ts";

const HOUR_MS = 3_600_000;
/** The longest window has 31 days. */
const KEPT_MS = 32 * 24 * HOUR_MS;
/** Person of the rows that count all persons together. */
const EVERYONE = "";

/**
 * Bytes that the runs of a tenant stored, by person and hour.
 * Ownership: one per tenant object; the only writer of the `stored_bytes` table.
 * Contract: synchronous. It counts what was added; a deletion gives nothing back.
 */
export class StoredBytes {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS stored_bytes (
         person TEXT NOT NULL, hour_ms INTEGER NOT NULL, bytes INTEGER NOT NULL,
         PRIMARY KEY (person, hour_ms)
       ) WITHOUT ROWID`,
    );
  }

  /** Counts bytes for everyone, and for a person when the run's owner is known. */
  add(person: string | undefined, bytes: number, nowMs: number): void {
    if (bytes <= 0) return;
    const persons = person === undefined ? [EVERYONE] : [person, EVERYONE];
    const rows = persons.map(() => "(?, ?, ?)").join(", ");
    this.#sql.exec(
      `INSERT INTO stored_bytes (person, hour_ms, bytes) VALUES ${rows}
       ON CONFLICT (person, hour_ms) DO UPDATE SET bytes = bytes + excluded.bytes`,
      ...persons.flatMap((counted) => [counted, hourOf(nowMs), bytes]),
    );
  }

  /** Reads what was added since the hour in which the current window began. */
  read({ person, windowSeconds }: StorageQuery, nowMs: number): StorageUse {
    const lengthMs = windowSeconds * 1_000;
    const fromMs = hourOf(nowMs - (nowMs % lengthMs));
    return {
      actorBytes: this.#sum(person, fromMs),
      tenantBytes: this.#sum(EVERYONE, fromMs),
    };
  }

  /** The bytes of all persons together stay counted. */
  forgetPerson(person: string): void {
    if (!hasTable(this.#sql, "stored_bytes")) return;
    this.#sql.exec("DELETE FROM stored_bytes WHERE person = ?", person);
  }

  forget(nowMs: number): void {
    if (!hasTable(this.#sql, "stored_bytes")) return;
    this.#sql.exec("DELETE FROM stored_bytes WHERE hour_ms < ?", nowMs - KEPT_MS);
  }

  #sum(person: string, fromMs: number): number {
    if (!hasTable(this.#sql, "stored_bytes")) return 0;
    return this.#sql
      .exec<{ bytes: number }>(
        `SELECT coalesce(sum(bytes), 0) AS bytes FROM stored_bytes
         WHERE person = ? AND hour_ms >= ?`,
        person,
        fromMs,
      )
      .one().bytes;
  }
}

function hourOf(timeMs: number): number {
  return timeMs - (timeMs % HOUR_MS);
}
