import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { TenantNotice } from "../../src/protocol/run/tenant-notice.ts";

/** What is published in KV: the number says which invocation, 0 stands for the run itself. */
export interface Publication {
  readonly seq: number;
  readonly kind: "invocation" | "run";
  readonly number: number;
}

/** Bounds of what goes to the tenant's object at once; a single notice may be larger. */
const MAX_NOTICES = 50;
/** Unit: UTF-16 code units of JSON. */
const MAX_CHARS = 256 * 1024;

/**
 * What leaves the run, written together with what decided it, so that a crash loses nothing: publications
 * for KV, and notices for the object of the tenant.
 * Ownership: one per run object; the only writer of the `outbox` table.
 * Contract: each entry stays until it was delivered; one may be delivered more than once. Numbers only grow, and none is
 * given again.
 */
export class Outbox {
  readonly #sql: SqlStorage;
  #listener = (): void => {};

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put(kind: Publication["kind"], number = 0): void {
    this.#sql.exec("INSERT INTO outbox (kind, number) VALUES (?, ?)", kind, number);
  }

  /** Tells the tenant's object, once whatever is written in the same turn is stored. */
  notify(notice: TenantNotice): void {
    const body = JSON.stringify(notice);
    this.#sql.exec("INSERT INTO outbox (kind, number, body) VALUES ('notice', 0, ?)", body);
    this.#listener();
  }

  /** Has somebody told, in the same turn, that there is a notice. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** What is to be published next; undefined when nothing is. */
  first(): Publication | undefined {
    return this.#sql
      .exec<Publication & Record<string, SqlStorageValue>>(
        "SELECT seq, kind, number FROM outbox WHERE body IS NULL ORDER BY seq LIMIT 1",
      )
      .toArray()[0];
  }

  /** The notices that are to leave next, in order, as many as may go at once. */
  notices(): readonly SentNotice[] {
    const rows = this.#sql.exec<{ seq: number; body: string }>(
      "SELECT seq, body FROM outbox WHERE body IS NOT NULL ORDER BY seq LIMIT ?",
      MAX_NOTICES,
    );
    let room = MAX_CHARS;
    const taken: SentNotice[] = [];
    for (const { seq, body } of rows.toArray()) {
      room -= body.length;
      if (taken.length > 0 && room < 0) break;
      taken.push({ seq, notice: JSON.parse(body) as TenantNotice });
    }
    return taken;
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM outbox LIMIT 1").toArray().length === 0;
  }

  hasNotices(): boolean {
    return (
      this.#sql.exec("SELECT 1 FROM outbox WHERE body IS NOT NULL LIMIT 1").toArray().length > 0
    );
  }

  remove(seq: number): void {
    this.#sql.exec("DELETE FROM outbox WHERE seq = ?", seq);
  }

  /** Removes the notices up to one that was delivered. */
  removeNotices(lastSeq: number): void {
    this.#sql.exec("DELETE FROM outbox WHERE body IS NOT NULL AND seq <= ?", lastSeq);
  }
}
