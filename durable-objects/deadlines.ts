import { hasTable } from "./has-table.ts";

/** Deadlines of a run's object. */
export type RunDeadline =
  /** Checks that the loop of an unfinished run is alive. */
  | "watchdog"
  /** Stops the run at its time limit. */
  | "wall_clock"
  /** Expires unknown outcomes that no operator resolved. */
  | "outcome"
  /** Expires approvals that nobody decided. */
  | "approval"
  /** Retries the delivery of the outbox. */
  | "outbox"
  /** Shrinks a finished run to what its idempotency key needs. */
  | "retention"
  /** Deletes the run. */
  | "forget";

/** Deadlines of a tenant's object. */
export type TenantDeadline =
  /** Retries the publication of the policy pointer. */
  | "policy"
  /** Closes reservations that nobody settled in time. */
  | "reservations"
  /** Deletes records whose retention has ended. */
  | "retention";

export type RunDeadlines = Deadlines<RunDeadline>;

type DeadlineRow = { name: string; at_ms: number | null; left_ms: number | null };

/**
 * Many deadlines over the one alarm of an object: the alarm is set to the earliest deadline.
 * Ownership: one per object; the only writer of the `deadlines` table and of the alarm.
 * Contract: the alarm rings at least once for a deadline. A deadline stays until it is cleared or
 * set again. The alarm commits together with all writes of the same turn. The first deadline
 * creates the table, so a read of an unused object writes nothing.
 */
export class Deadlines<Name extends string> {
  readonly #storage: DurableObjectStorage;
  #armedMs: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  set(name: Name, atMs: number): void {
    this.#storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS deadlines (name TEXT PRIMARY KEY, at_ms INTEGER, left_ms INTEGER) WITHOUT ROWID",
    );
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO deadlines (name, at_ms, left_ms) VALUES (?, ?, NULL)",
      name,
      atMs,
    );
    this.arm();
  }

  /** Time of a deadline; undefined when the deadline is not set, or is paused. */
  at(name: Name): number | undefined {
    return this.#row(name)?.at_ms ?? undefined;
  }

  has(name: Name): boolean {
    return this.#row(name) !== undefined;
  }

  clear(...names: readonly Name[]): void {
    if (!this.#isUsed()) return;
    for (const name of names) this.#storage.sql.exec("DELETE FROM deadlines WHERE name = ?", name);
    this.arm();
  }

  /** Stops a deadline and keeps the time that is left. */
  pause(name: Name, nowMs: number): void {
    if (!this.#isUsed()) return;
    this.#storage.sql.exec(
      "UPDATE deadlines SET left_ms = max(0, at_ms - ?), at_ms = NULL WHERE name = ? AND at_ms IS NOT NULL",
      nowMs,
      name,
    );
    this.arm();
  }

  /** Continues a paused deadline with the time that is left. */
  resume(name: Name, nowMs: number): void {
    if (!this.#isUsed()) return;
    this.#storage.sql.exec(
      "UPDATE deadlines SET at_ms = ? + left_ms, left_ms = NULL WHERE name = ? AND left_ms IS NOT NULL",
      nowMs,
      name,
    );
    this.arm();
  }

  due(nowMs: number): readonly Name[] {
    if (!this.#isUsed()) return [];
    return this.#storage.sql
      .exec<{ name: Name }>("SELECT name FROM deadlines WHERE at_ms <= ? ORDER BY at_ms", nowMs)
      .toArray()
      .map(({ name }) => name);
  }

  /**
   * Sets the alarm to the earliest deadline. `again` sets the alarm even when its time is
   * unchanged, because the alarm has rung.
   */
  arm({ again = false } = {}): void {
    if (!this.#isUsed()) return;
    const { at } = this.#storage.sql
      .exec<{ at: number | null }>("SELECT min(at_ms) AS at FROM deadlines")
      .one();
    const atMs = at ?? undefined;
    if (atMs === this.#armedMs && !again) return;
    this.#armedMs = atMs;
    // The alarm is part of the same commit; when the commit fails, the platform resets the object.
    if (atMs === undefined) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(atMs);
  }

  #isUsed(): boolean {
    return hasTable(this.#storage.sql, "deadlines");
  }

  #row(name: Name): DeadlineRow | undefined {
    if (!this.#isUsed()) return undefined;
    return this.#storage.sql
      .exec<DeadlineRow>("SELECT name, at_ms, left_ms FROM deadlines WHERE name = ?", name)
      .toArray()[0];
  }
}
