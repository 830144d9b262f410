import type { SteeringInbox } from "../../src/capabilities/run-journal.ts";
import type { RunTables } from "./run-tables.ts";
import type { StoredSteering } from "../../src/run/stored-run.ts";

/** How many messages may wait for a run's next step. */
const MAX_WAITING = 32;

/**
 * Stores the steering messages of a run before the sender gets an answer. Rows are never deleted.
 * The number of messages in the conversation tells which rows the loop has read, so a crash neither
 * loses nor repeats a message.
 * Ownership: one per run object; the only writer of the `inbox` table.
 */
export class StoredInbox implements SteeringInbox, StoredSteering {
  readonly #sql: SqlStorage;
  readonly #tables: RunTables;
  #waiting: string[] = [];
  #count = 0;
  #isClosed = false;

  constructor(sql: SqlStorage, tables: RunTables) {
    this.#sql = sql;
    this.#tables = tables;
  }

  get hasSteering(): boolean {
    return this.#waiting.length > 0;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  put(text: string, requestKey: string | undefined): void {
    this.#tables.create("inbox");
    const seq = this.#count + 1;
    this.#sql.exec(
      "INSERT INTO inbox (seq, request_key, body) VALUES (?, ?, ?)",
      seq,
      requestKey ?? null,
      JSON.stringify(text),
    );
    this.#count = seq;
    this.#waiting.push(text);
  }

  takeAll(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  /** Reads the messages of earlier incarnations; the conversation holds `takenCount` of them. */
  restore(takenCount: number): void {
    const rows = this.#sql
      .exec<{ seq: number; body: string }>("SELECT seq, body FROM inbox ORDER BY seq")
      .toArray();
    this.#count = rows.at(-1)?.seq ?? 0;
    this.#waiting = rows.slice(takenCount).map(({ body }) => JSON.parse(body) as string);
  }

  /** Finds the message under a key; undefined when there is none. */
  findByKey(requestKey: string): string | undefined {
    if (!this.#tables.has("inbox")) return undefined;
    const [row] = this.#sql
      .exec<{ body: string }>("SELECT body FROM inbox WHERE request_key = ?", requestKey)
      .toArray();
    return row && (JSON.parse(row.body) as string);
  }

  close(): void {
    this.#isClosed = true;
  }
}
