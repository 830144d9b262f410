import type { Deadline, DeadlineSet, StoredDeadlines, TenantDeadline } from "../deadlines.ts";
import { hasTable } from "../has-table.ts";

type DeadlineRow = { name: TenantDeadline; at_ms: number | null; left_ms: number | null };

/**
 * The deadlines of a tenant in SQLite.
 * Ownership: one per tenant object; the only writer of the `deadlines` table.
 * Contract: the first deadline creates the table, so a read of an unused object writes nothing.
 */
export class DeadlineTable implements StoredDeadlines<TenantDeadline> {
  readonly #sql: SqlStorage;
  #exists = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(): DeadlineSet<TenantDeadline> | undefined {
    this.#exists ||= hasTable(this.#sql, "deadlines");
    if (!this.#exists) return undefined;
    const rows = this.#sql.exec<DeadlineRow>("SELECT name, at_ms, left_ms FROM deadlines");
    const all: [string, Deadline][] = rows
      .toArray()
      .map(({ name, at_ms: atMs, left_ms: leftMs }) => [
        name,
        atMs === null ? { leftMs: leftMs ?? 0 } : { atMs },
      ]);
    return Object.fromEntries(all);
  }

  write(deadlines: DeadlineSet<TenantDeadline>): void {
    if (!this.#exists) {
      this.#sql.exec(
        "CREATE TABLE IF NOT EXISTS deadlines (name TEXT PRIMARY KEY, at_ms INTEGER, left_ms INTEGER) WITHOUT ROWID",
      );
      this.#exists = true;
    }
    this.#sql.exec("DELETE FROM deadlines");
    for (const [name, deadline] of Object.entries(deadlines)) {
      this.#sql.exec(
        "INSERT INTO deadlines (name, at_ms, left_ms) VALUES (?, ?, ?)",
        name,
        "atMs" in deadline ? deadline.atMs : null,
        "leftMs" in deadline ? deadline.leftMs : null,
      );
    }
  }
}
