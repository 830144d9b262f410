import type {
  AssistantChange,
  AssistantProposal,
  StoredAssistant,
} from "../../../src/capabilities/assistant.ts";
import type { AssistantPin } from "../../../src/protocol/assistant/pin.ts";
import { hasTable } from "../../has-table.ts";
import { hashNow } from "../../hash-now.ts";

/** Assistants of one tenant. */
const MAX_ASSISTANTS = 256;
/** Newest revisions of which replaced and removed documents are kept. */
const MAX_KEPT_REVISIONS = 1_000;

type AssistantRow = { revision: number; id: string; hash: string; body: string };
type Pin = Required<AssistantPin>;

/**
 * The assistants of a tenant in SQLite: one row for each revision, of which at most one is current.
 * Ownership: one per tenant object; the only writer of the `assistants` table. The body of a row
 * never changes. Old documents stay as evidence of what runs used, as long as they are among the
 * newest.
 * Contract: synchronous; the first assistant creates the table.
 */
export class AssistantList {
  readonly #sql: SqlStorage;

  constructor({ sql }: DurableObjectStorage) {
    this.#sql = sql;
  }

  all(): readonly Pin[] {
    if (!this.#exists()) return [];
    return this.#sql
      .exec<AssistantRow>("SELECT * FROM assistants WHERE is_current = 1 ORDER BY id")
      .toArray()
      .map(toPin);
  }

  /** Reads the current document, or the newest one with a hash. */
  read(id: string, hash?: string): StoredAssistant | undefined {
    if (!this.#exists()) return undefined;
    const [row] = this.#sql
      .exec<AssistantRow>(
        `SELECT * FROM assistants WHERE id = ?1 AND (hash = ?2 OR (?2 IS NULL AND is_current = 1))
         ORDER BY revision DESC LIMIT 1`,
        id,
        hash ?? null,
      )
      .toArray();
    return row && { pin: toPin(row), text: row.body };
  }

  /** Contract: the caller makes it one transaction with its audit record. */
  change({ id, text, expectedRevision }: AssistantProposal): AssistantChange {
    const pin = this.read(id)?.pin;
    if (pin?.revision !== expectedRevision) return { kind: "conflict", ...(pin && { pin }) };
    if (text === undefined) {
      if (!pin) return { kind: "conflict" };
      this.#retire(id);
      return { kind: "changed", pin };
    }
    if (!pin && this.all().length >= MAX_ASSISTANTS) return { kind: "full" };
    return { kind: "changed", pin: this.#add(id, text) };
  }

  #add(id: string, text: string): Pin {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS assistants (
         revision INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, hash TEXT NOT NULL,
         body TEXT NOT NULL, is_current INTEGER NOT NULL
       );
       CREATE INDEX IF NOT EXISTS assistants_by_id ON assistants (id, revision);`,
    );
    this.#retire(id);
    const row = this.#sql
      .exec<AssistantRow>(
        "INSERT INTO assistants (id, hash, body, is_current) VALUES (?, ?, ?, 1) RETURNING *",
        id,
        hashNow(text),
        text,
      )
      .one();
    this.#sql.exec(
      "DELETE FROM assistants WHERE is_current = 0 AND revision <= ?",
      row.revision - MAX_KEPT_REVISIONS,
    );
    return toPin(row);
  }

  #retire(id: string): void {
    this.#sql.exec("UPDATE assistants SET is_current = 0 WHERE id = ? AND is_current = 1", id);
  }

  #exists(): boolean {
    return hasTable(this.#sql, "assistants");
  }
}

function toPin({ id, revision, hash }: AssistantRow): Pin {
  return { id, revision, hash };
}
