import type { JsonValue } from "../../src/protocol/json/value.ts";
import type { RunTables } from "./run-tables.ts";
import type { PromptPart } from "../../src/run/stored-run.ts";

/**
 * The parts of a run's prompt that are not its conversation, in SQLite. They have a table of their
 * own, so that no change of the run's row writes them again. No client reads them.
 * Ownership: one per run object; the only writer of the `prompt` table. Contract: a part is written
 * once; the first one creates the table.
 */
export class StoredPrompt {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  put(part: PromptPart, value: JsonValue): void {
    const body = JSON.stringify(value);
    this.#tables.create("prompt");
    this.#tables.grow(body.length);
    this.#sql.exec("INSERT INTO prompt (part, body) VALUES (?, ?)", part, body);
  }

  read(part: PromptPart): JsonValue | undefined {
    if (!this.#tables.has("prompt")) return undefined;
    const [row] = this.#sql
      .exec<{ body: string }>("SELECT body FROM prompt WHERE part = ?", part)
      .toArray();
    return row && (JSON.parse(row.body) as JsonValue);
  }
}
