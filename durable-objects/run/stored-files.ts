import type { RunTables } from "./run-tables.ts";

/** Longest text of one row. Production refuses rows over 2 MB. Unit: characters of base64. */
const MAX_ROW_CHARS = 1_500_000;

/**
 * The files that a run keeps, in SQLite: base64, by hash.
 * Ownership: one per run object; the only writer of the `files` table. Contract: content is written
 * once; the first file creates the table.
 */
export class StoredFiles {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  put(hash: string, base64: string): void {
    this.#tables.create("files");
    this.#tables.grow(base64.length);
    for (let part = 0; part * MAX_ROW_CHARS < base64.length; part++) {
      const body = base64.slice(part * MAX_ROW_CHARS, (part + 1) * MAX_ROW_CHARS);
      this.#sql.exec(
        "INSERT OR IGNORE INTO files (hash, part, body) VALUES (?, ?, ?)",
        hash,
        part,
        body,
      );
    }
  }

  has(hash: string): boolean {
    if (!this.#tables.has("files")) return false;
    return this.#sql.exec("SELECT 1 FROM files WHERE hash = ? LIMIT 1", hash).toArray().length > 0;
  }

  read(hash: string): string | undefined {
    if (!this.has(hash)) return undefined;
    const rows = this.#sql
      .exec<{ body: string }>("SELECT body FROM files WHERE hash = ? ORDER BY part", hash)
      .toArray();
    return rows.map(({ body }) => body).join("");
  }
}
