import type { ResultStore } from "../../src/capabilities/results.ts";
import type { RunTables } from "./run-tables.ts";

/** Most that the results of one run take together. Unit: characters. */
const MAX_RUN_CHARS = 6 * 1024 * 1024;
/** Production refuses rows over 2 MB. Unit: characters. */
const MAX_ROW_CHARS = 1_900_000;

/**
 * The sealed results of a run in SQLite, by the number of the call.
 * Ownership: one per run object; the only writer of the `results` table. Contract: the first result
 * creates the table.
 */
export class StoredResults implements ResultStore {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  put(invocation: number, sealed: string): void {
    this.#tables.create("results");
    const { chars } = this.#sql
      .exec<{ chars: number | null }>("SELECT sum(length(body)) AS chars FROM results")
      .one();
    if (sealed.length > MAX_ROW_CHARS || (chars ?? 0) + sealed.length > MAX_RUN_CHARS) return;
    this.#sql.exec(
      "INSERT OR REPLACE INTO results (invocation, body) VALUES (?, ?)",
      invocation,
      sealed,
    );
  }

  get(invocation: number): string | undefined {
    if (!this.#tables.has("results")) return undefined;
    const [row] = this.#sql
      .exec<{ body: string }>("SELECT body FROM results WHERE invocation = ?", invocation)
      .toArray();
    return row?.body;
  }
}
