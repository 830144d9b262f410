/** What leaves a run's object: the number says which invocation, 0 stands for the run itself. */
export interface Outgoing {
  readonly seq: number;
  readonly kind: "invocation" | "run";
  readonly number: number;
}

/**
 * What is to be published, written together with what decided it, so that a crash loses nothing.
 * Ownership: one per run object; the only writer of the `outbox` table.
 * Contract: each entry stays until it was delivered; one may be delivered more than once. The place of a
 * removed entry is given again, so only one delivery goes on at a time.
 */
export class Outbox {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put(kind: Outgoing["kind"], number = 0): void {
    this.#sql.exec("INSERT INTO outbox (kind, number) VALUES (?, ?)", kind, number);
  }

  /** What is to leave next; undefined when nothing is. */
  first(): Outgoing | undefined {
    return this.#sql
      .exec<Outgoing & Record<string, SqlStorageValue>>(
        "SELECT seq, kind, number FROM outbox ORDER BY seq LIMIT 1",
      )
      .toArray()[0];
  }

  isEmpty(): boolean {
    return this.first() === undefined;
  }

  remove(seq: number): void {
    this.#sql.exec("DELETE FROM outbox WHERE seq = ?", seq);
  }
}
