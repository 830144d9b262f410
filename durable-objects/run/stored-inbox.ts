import type { SteeringInbox } from "../../src/capabilities/run-journal.ts";

/** How many messages may wait for a run's next step. */
const MAX_WAITING = 32;

/**
 * Keeps what people say to a run, stored before anyone learns that it was taken. Rows stay: the
 * transcript tells how many of them the conversation holds, so that a crash between the two neither
 * loses nor repeats one.
 * Ownership: one per run object; the only writer of the `inbox` table.
 */
export class StoredInbox implements SteeringInbox {
  readonly #sql: SqlStorage;
  #waiting: string[] = [];
  #count = 0;
  #isClosed = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
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

  /** Takes up what an earlier life of the run was told; the conversation holds `takenCount` of it. */
  restore(takenCount: number): void {
    const rows = this.#sql
      .exec<{ seq: number; body: string }>("SELECT seq, body FROM inbox ORDER BY seq")
      .toArray();
    this.#count = rows.at(-1)?.seq ?? 0;
    this.#waiting = rows.slice(takenCount).map(({ body }) => JSON.parse(body) as string);
  }

  /** Tells what was said under a key before; undefined when nothing was. */
  findUnder(requestKey: string): string | undefined {
    const [row] = this.#sql
      .exec<{ body: string }>("SELECT body FROM inbox WHERE request_key = ?", requestKey)
      .toArray();
    return row && (JSON.parse(row.body) as string);
  }

  close(): void {
    this.#isClosed = true;
  }
}
