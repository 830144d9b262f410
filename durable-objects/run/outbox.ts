import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { TenantNotice } from "../../src/protocol/run/tenant-notice.ts";

/** A publication in KV. `number` names the invocation; 0 is the run itself. */
export interface Publication {
  readonly seq: number;
  readonly kind: "invocation" | "run";
  readonly number: number;
}

/** Limits of one batch for the tenant's object; a single notice may be larger. */
const MAX_NOTICES = 50;
/** Unit: UTF-16 code units of JSON. */
const MAX_CHARS = 256 * 1024;

/**
 * Everything that leaves the run: publications for KV, and notices for the object of the tenant. An
 * entry commits together with the write that caused it, so a crash loses no entry.
 * Ownership: one per run object; the only writer of the `outbox` table.
 * Contract: an entry stays until its delivery, and may be delivered more than once. Numbers only
 * grow, and no number is used twice.
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

  /**
   * Adds a notice for the tenant's object. The notice leaves after the writes of its turn are
   * stored.
   */
  notify(notice: TenantNotice): void {
    const body = JSON.stringify(notice);
    this.#sql.exec("INSERT INTO outbox (kind, number, body) VALUES ('notice', 0, ?)", body);
    this.#listener();
  }

  /** Calls the listener in the turn of each new notice. */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** The next publication; undefined when there is none. */
  first(): Publication | undefined {
    return this.#sql
      .exec<Publication & Record<string, SqlStorageValue>>(
        "SELECT seq, kind, number FROM outbox WHERE body IS NULL ORDER BY seq LIMIT 1",
      )
      .toArray()[0];
  }

  /** The next batch of notices, in order. */
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
