import { hasTable } from "./has-table.ts";

/** Deadlines of a run's object. */
export type RunDeadline =
  /** Checks that the loop of an unfinished run is alive. */
  | "watchdog"
  /** Stops the run at its time limit. */
  | "wall_clock"
  /** Expires unknown outcomes that no operator resolved. */
  | "outcome"
  /** Begins the next attempt of a call. */
  | "retry"
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

type DeadlineRow<Name> = { name: Name; at_ms: number | null; left_ms: number | null };

/**
 * Many deadlines over the one alarm of an object: the alarm rings at the earliest deadline, or
 * sooner.
 * Ownership: one per object; the only writer of the `deadlines` table and of the alarm. It holds
 * the deadlines in memory too.
 * Contract: the alarm rings at least once for a deadline. A deadline stays until it is cleared or
 * set again. The alarm commits together with all writes of the same turn. The first deadline
 * creates the table, so a read of an unused object writes nothing.
 */
export class Deadlines<Name extends string> {
  readonly #storage: DurableObjectStorage;
  /** Undefined until the deadlines are read. */
  #held: Map<Name, DeadlineRow<Name>> | undefined;
  #hasTable = false;
  #armedMs: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  set(name: Name, atMs: number): void {
    this.#store({ name, at_ms: atMs, left_ms: null });
    this.arm();
  }

  /** Time of a deadline; undefined when the deadline is not set, or is paused. */
  at(name: Name): number | undefined {
    return this.#rows.get(name)?.at_ms ?? undefined;
  }

  has(name: Name): boolean {
    return this.#rows.has(name);
  }

  /** Removes deadlines. The alarm stays, and may ring for nothing. */
  clear(...names: readonly Name[]): void {
    const known = names.filter((name) => this.has(name));
    if (known.length === 0) return;
    const places = known.map(() => "?").join(", ");
    this.#storage.sql.exec(`DELETE FROM deadlines WHERE name IN (${places})`, ...known);
    for (const name of known) this.#rows.delete(name);
  }

  /** Stops a deadline and keeps the time that is left. */
  pause(name: Name, nowMs: number): void {
    const atMs = this.at(name);
    if (atMs === undefined) return;
    this.#store({ name, at_ms: null, left_ms: Math.max(0, atMs - nowMs) });
  }

  /** Continues a paused deadline with the time that is left. */
  resume(name: Name, nowMs: number): void {
    const leftMs = this.#rows.get(name)?.left_ms ?? null;
    if (leftMs !== null) this.set(name, nowMs + leftMs);
  }

  /** Deadlines that are due, the earliest first. Reads them from storage. */
  due(nowMs: number): readonly Name[] {
    this.#held = undefined;
    return [...this.#rows.values()]
      .flatMap(({ name, at_ms: atMs }) => (atMs !== null && atMs <= nowMs ? [{ name, atMs }] : []))
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ name }) => name);
  }

  /**
   * Sets the alarm to the earliest deadline, when that is earlier than the alarm. `exactly` sets
   * the alarm in any case: because it has rung, or because it would ring long before a deadline.
   */
  arm({ exactly = false } = {}): void {
    const times = [...this.#rows.values()].flatMap(({ at_ms: atMs }) => atMs ?? []);
    const atMs = times.length > 0 ? Math.min(...times) : undefined;
    const isEarlier = atMs !== undefined && atMs < (this.#armedMs ?? Infinity);
    if (!isEarlier && !(exactly && this.#hasTable)) return;
    this.#armedMs = atMs;
    // The alarm is part of the same commit; when the commit fails, the platform resets the object.
    if (atMs === undefined) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(atMs);
  }

  get #rows(): Map<Name, DeadlineRow<Name>> {
    this.#held ??= this.#read();
    return this.#held;
  }

  #read(): Map<Name, DeadlineRow<Name>> {
    const { sql } = this.#storage;
    this.#hasTable ||= hasTable(sql, "deadlines");
    if (!this.#hasTable) return new Map();
    const rows = sql.exec<DeadlineRow<Name>>("SELECT name, at_ms, left_ms FROM deadlines");
    return new Map(rows.toArray().map((row) => [row.name, row]));
  }

  #store(row: DeadlineRow<Name>): void {
    const rows = this.#rows;
    if (!this.#hasTable) {
      this.#storage.sql.exec(
        "CREATE TABLE IF NOT EXISTS deadlines (name TEXT PRIMARY KEY, at_ms INTEGER, left_ms INTEGER) WITHOUT ROWID",
      );
      this.#hasTable = true;
    }
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO deadlines (name, at_ms, left_ms) VALUES (?, ?, ?)",
      row.name,
      row.at_ms,
      row.left_ms,
    );
    rows.set(row.name, row);
  }
}
