import { versionOf, versionView, type Layout } from "../storage-version.ts";

/** Versions of the tables below, and of the JSON in them. */
export const RUN_LAYOUT: Layout = { oldest: 7, migrations: [] };

/** Tables that a run creates when it first uses them. */
export type LateTable = "approvals" | "inbox" | "prompt" | "files";

const DEFINITIONS: Readonly<Record<LateTable, string>> = {
  approvals: `CREATE TABLE approvals (
    invocation INTEGER NOT NULL, generation INTEGER NOT NULL, status TEXT NOT NULL,
    tool_id TEXT NOT NULL, payload_hash TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (invocation, generation)
  ) WITHOUT ROWID`,
  inbox: "CREATE TABLE inbox (seq INTEGER PRIMARY KEY, request_key TEXT, body TEXT NOT NULL)",
  prompt: "CREATE TABLE prompt (part TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
  files: `CREATE TABLE files (
    hash TEXT NOT NULL, part INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (hash, part)
  ) WITHOUT ROWID`,
};

const RUN_AND_LOG = `
  CREATE TABLE run (
    id INTEGER PRIMARY KEY CHECK (id = 1), run_id TEXT NOT NULL, model TEXT NOT NULL,
    request_hash TEXT, owner TEXT NOT NULL, claim TEXT, claimed_messages INTEGER NOT NULL,
    created_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, recoveries INTEGER NOT NULL,
    recovered_step INTEGER NOT NULL, stop TEXT, is_waiting INTEGER NOT NULL,
    tables TEXT NOT NULL, deadlines TEXT NOT NULL DEFAULT '{}',
    delivered_seq INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE log (
    seq INTEGER PRIMARY KEY, is_partial INTEGER NOT NULL, first_seq INTEGER, last_seq INTEGER,
    epoch INTEGER, state TEXT, body TEXT, saved INTEGER NOT NULL DEFAULT 0, base INTEGER
  );`;

/**
 * Creates the tables of a run: its row, and its log. They exist only once the run is claimed, so a
 * read of an unknown run writes nothing.
 */
export function createRunTables(sql: SqlStorage): void {
  sql.exec(`${RUN_AND_LOG} ${versionView(versionOf(RUN_LAYOUT))}`);
}

/**
 * The tables that a run has used so far. The row of the run names them, so nothing looks for a
 * table.
 * Ownership: one per run object; the only writer of the names.
 */
export class RunTables {
  readonly #sql: SqlStorage;
  readonly #names: Set<string>;

  constructor(sql: SqlStorage, names: readonly string[]) {
    this.#sql = sql;
    this.#names = new Set(names);
  }

  has(name: LateTable): boolean {
    return this.#names.has(name);
  }

  /** Creates a table unless it exists, in the transaction of its first row. */
  create(name: LateTable): void {
    if (this.has(name)) return;
    this.#sql.exec(DEFINITIONS[name]);
    this.#sql.exec("UPDATE run SET tables = ?", [...this.#names, name].join(" "));
    this.#names.add(name);
  }

  /** Drops all these tables. */
  drop(): void {
    for (const name of this.#names) this.#sql.exec(`DROP TABLE ${name}`);
    this.#sql.exec("UPDATE run SET tables = ''");
    this.#names.clear();
  }
}
