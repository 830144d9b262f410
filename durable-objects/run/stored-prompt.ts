import type { JsonValue } from "../../src/protocol/json/value.ts";
import { hasTable } from "../has-table.ts";

/** What the model gets besides the conversation. */
export type PromptPart =
  /** The template of the assistant's instructions. */
  | "instructions"
  /** What the client sent for the model to read as data. */
  | "request_context"
  /** What the deployment's hook gave. */
  | "hook_context";

/**
 * The parts of a run's prompt that are not its conversation, in SQLite. They have a table of their
 * own, so that no change of the run's row writes them again. No client reads them.
 * Ownership: one per run object; the only writer of the `prompt` table. Contract: a part is written
 * once; the first one creates the table.
 */
export class StoredPrompt {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put(part: PromptPart, value: JsonValue): void {
    this.#sql.exec("CREATE TABLE IF NOT EXISTS prompt (part TEXT PRIMARY KEY, body TEXT NOT NULL)");
    this.#sql.exec("INSERT INTO prompt (part, body) VALUES (?, ?)", part, JSON.stringify(value));
  }

  read(part: PromptPart): JsonValue | undefined {
    if (!hasTable(this.#sql, "prompt")) return undefined;
    const [row] = this.#sql
      .exec<{ body: string }>("SELECT body FROM prompt WHERE part = ?", part)
      .toArray();
    return row && (JSON.parse(row.body) as JsonValue);
  }
}
