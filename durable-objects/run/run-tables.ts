import { versionOf, versionView, type Layout } from "../storage-version.ts";

/** Versions of the tables below, and of the JSON in them. */
export const RUN_LAYOUT: Layout = { oldest: 19, migrations: [] };

/** Tables that a run creates when it first uses them. */
export type LateTable =
  | "approvals"
  | "inbox"
  | "prompt"
  | "files"
  | "results"
  | "turns"
  | "pages"
  | "naming"
  | "erasure";

/** Tables of the conversation, which outlives its first run. */
const OF_CONVERSATION: ReadonlySet<LateTable> = new Set([
  "files",
  "turns",
  "pages",
  "naming",
  "erasure",
]);

/**
 * Most rows of the page of one turn; the key of a row is its turn and its part. The last one is for
 * the summary of the path up to the turn.
 */
export const PARTS_OF_PAGE = 4_096;

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
  results: "CREATE TABLE results (invocation INTEGER PRIMARY KEY, body TEXT NOT NULL)",
  turns: `CREATE TABLE turns (
    number INTEGER PRIMARY KEY, run_id TEXT NOT NULL, parent INTEGER, root INTEGER NOT NULL,
    depth INTEGER NOT NULL, message_id TEXT, hash TEXT, key_run_id TEXT, owner TEXT NOT NULL,
    others TEXT NOT NULL, opened_ms INTEGER NOT NULL, ended_ms INTEGER, page_hash TEXT,
    bytes INTEGER, short_bytes INTEGER, labels TEXT, title TEXT,
    said_keys TEXT, feedback TEXT, summary TEXT
  );
  CREATE INDEX turns_by_message ON turns (message_id) WHERE message_id IS NOT NULL`,
  erasure: "CREATE TABLE erasure (begun_ms INTEGER NOT NULL)",
  naming: "CREATE TABLE naming (title TEXT NOT NULL)",
  // One number is the key: in the tree of a longer key, a body over 1 KB takes a page of its own.
  pages: `CREATE TABLE pages (
    place INTEGER PRIMARY KEY, body BLOB NOT NULL, number INTEGER AS (place / ${PARTS_OF_PAGE})
  )`,
};

/**
 * One table, because each table is a page of each run: row 0 is that of the run, and
 * the rows after it are its log.
 */
const LOG = `
  CREATE TABLE log (
    seq INTEGER PRIMARY KEY, is_partial INTEGER NOT NULL DEFAULT 0, first_seq INTEGER,
    last_seq INTEGER, epoch INTEGER, state TEXT, body TEXT, saved INTEGER NOT NULL DEFAULT 0,
    base INTEGER,
    run_id TEXT, model TEXT, request_hash TEXT, owner TEXT, claim TEXT, claimed_messages INTEGER,
    created_ms INTEGER, run_epoch INTEGER, recoveries INTEGER, recovered_step INTEGER, stop TEXT,
    is_waiting INTEGER, tables TEXT, deadlines TEXT, delivered_seq INTEGER
  );`;

/**
 * Creates the table of a run: its row, and its log. It exists only once the run is claimed, so a
 * read of an unknown run writes nothing.
 */
export function createRunTables(sql: SqlStorage): void {
  sql.exec(`${LOG} ${versionView(versionOf(RUN_LAYOUT))}`);
}

/** Reads the names of tables from the row of a run. */
export function namesOf(stored: string): readonly LateTable[] {
  return stored.split(" ").filter((name): name is LateTable => Object.hasOwn(DEFINITIONS, name));
}

/**
 * The tables that a run has used so far. The row of the run names them, so nothing looks for a
 * table.
 * Ownership: one per run object; the only writer of the names.
 */
export class RunTables {
  readonly #sql: SqlStorage;
  readonly #names: Set<LateTable>;
  #grownChars = 0;

  constructor(sql: SqlStorage, names: readonly LateTable[]) {
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
    this.#sql.exec("UPDATE log SET tables = ? WHERE seq = 0", [...this.#names, name].join(" "));
    this.#names.add(name);
  }

  /** Counts text that this incarnation adds to one of the tables. Unit: UTF-16 code units. */
  grow(chars: number): void {
    this.#grownChars += chars;
  }

  get grownChars(): number {
    return this.#grownChars;
  }

  /** Drops what a deleted conversation kept. Its tombstone stays. */
  dropConversation(): void {
    for (const name of OF_CONVERSATION) {
      if (name === "erasure" || !this.#names.delete(name)) continue;
      this.#sql.exec(`DROP TABLE ${name}`);
    }
    this.#sql.exec("UPDATE log SET tables = ? WHERE seq = 0", [...this.#names].join(" "));
  }

  /** Drops the tables of the run. A conversation keeps those of its own. */
  drop(): void {
    const isConversation = this.has("turns") || this.has("erasure");
    for (const name of this.#names) {
      if (isConversation && OF_CONVERSATION.has(name)) continue;
      this.#sql.exec(`DROP TABLE ${name}`);
      this.#names.delete(name);
    }
    this.#sql.exec("UPDATE log SET tables = ? WHERE seq = 0", [...this.#names].join(" "));
  }
}
