import { hasTable } from "../../has-table.ts";

/** Names of one person that are kept, the newest. */
const MAX_PER_PERSON = 1_000;
/** So many more are kept before the oldest are removed. */
const SLACK = 100;
/** A name that is used often is written once a day. */
const DAY_MS = 86_400_000;
const HASH = /^[0-9a-f]{32}$/;

/**
 * Keyed hashes of the recipients, accounts and hosts that calls of each person used.
 * Ownership: one per tenant object; the only writer of the `used_names` table.
 * Contract: synchronous. A person has a bounded number of rows.
 */
export class UsedNameList {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS used_names (
         person TEXT NOT NULL, hash TEXT NOT NULL, used_ms INTEGER NOT NULL,
         PRIMARY KEY (person, hash)
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS used_names_by_time ON used_names (used_ms)`,
    );
  }

  /** Notes that a person used names. */
  add(person: string, hashes: readonly string[], nowMs: number): void {
    for (const hash of hashes.filter((one) => HASH.test(one))) {
      this.#sql.exec(
        `INSERT INTO used_names VALUES (?1, ?2, ?3) ON CONFLICT (person, hash)
         DO UPDATE SET used_ms = ?3 WHERE used_ms < ?3 - ${DAY_MS}`,
        person,
        hash,
        nowMs,
      );
    }
    const { count } = this.#sql
      .exec<{ count: number }>("SELECT count(*) AS count FROM used_names WHERE person = ?", person)
      .one();
    if (count <= MAX_PER_PERSON + SLACK) return;
    this.#sql.exec(
      `DELETE FROM used_names WHERE person = ? AND hash NOT IN (
         SELECT hash FROM used_names WHERE person = ? ORDER BY used_ms DESC LIMIT ?)`,
      person,
      person,
      MAX_PER_PERSON,
    );
  }

  /** Tells which of the hashes a person used. */
  find(person: string, hashes: readonly string[]): readonly string[] {
    if (!hasTable(this.#sql, "used_names")) return [];
    const text = "SELECT 1 FROM used_names WHERE person = ? AND hash = ?";
    return hashes.filter((hash) => this.#sql.exec(text, person, hash).toArray().length > 0);
  }

  /** Deletes what is known of a person. */
  forgetPerson(person: string): void {
    if (!hasTable(this.#sql, "used_names")) return;
    this.#sql.exec("DELETE FROM used_names WHERE person = ?", person);
  }

  /** Deletes names that nobody used since. */
  forget(beforeMs: number): void {
    if (!hasTable(this.#sql, "used_names")) return;
    this.#sql.exec("DELETE FROM used_names WHERE used_ms < ?", beforeMs);
  }

  oldestMs(): number | undefined {
    if (!hasTable(this.#sql, "used_names")) return undefined;
    const [row] = this.#sql
      .exec<{ ms: number | null }>("SELECT min(used_ms) AS ms FROM used_names")
      .toArray();
    return row?.ms ?? undefined;
  }
}
