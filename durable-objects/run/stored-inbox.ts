import type { SteeringInbox } from "../../src/capabilities/run-journal.ts";
import type { RunTables } from "./run-tables.ts";
import type { StoredMessage, StoredSteering } from "../../src/run/stored-run.ts";
import type { EventPosition } from "../../src/protocol/run/event-id.ts";

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

  put(message: StoredMessage, requestKey: string | undefined): void {
    this.#tables.create("inbox");
    this.#tables.grow(message.text.length);
    const seq = this.#count + 1;
    this.#sql.exec(
      "INSERT INTO inbox (seq, request_key, body) VALUES (?, ?, ?)",
      seq,
      requestKey ?? null,
      JSON.stringify(message),
    );
    this.#count = seq;
    this.#waiting.push(message.text);
  }

  takeAll(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  /** Reads the messages of earlier incarnations; the conversation holds `takenCount` of them. */
  restore(takenCount: number): void {
    const messages = this.#all();
    this.#count = messages.length;
    this.#waiting = messages.slice(takenCount).map(({ text }) => text);
  }

  /** Finds the message under a key; undefined when there is none. */
  findByKey(requestKey: string): StoredMessage | undefined {
    return this.#all().find(({ key }) => key === requestKey);
  }

  keys(): readonly string[] {
    return this.#all().flatMap(({ key }) => key ?? []);
  }

  newestOfClient(): EventPosition | undefined {
    return this.#all().findLast(({ messageId }) => messageId !== undefined)?.at;
  }

  #all(): readonly (StoredMessage & { readonly key: string | null })[] {
    if (!this.#tables.has("inbox")) return [];
    return this.#sql
      .exec<{ key: string | null; body: string }>(
        "SELECT request_key AS key, body FROM inbox ORDER BY seq",
      )
      .toArray()
      .map(({ key, body }) => Object.assign(JSON.parse(body) as StoredMessage, { key }));
  }

  close(): void {
    this.#isClosed = true;
  }
}
