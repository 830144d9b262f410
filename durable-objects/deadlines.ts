type DeadlineRow = { name: string; at_ms: number | null; left_ms: number | null };

/**
 * Many deadlines over the one alarm that an object has: the alarm stands at the earliest.
 * Ownership: one per object; the only writer of the `deadlines` table and of the alarm.
 * Contract: a deadline is met at least once, and stays until it is cleared or set anew. The alarm is
 * stored together with whatever is written in the same turn. The table exists only once there is a
 * deadline, so a look at an object that nobody uses writes nothing.
 */
export class AlarmDeadlines<Name extends string> {
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

  /** Tells when a deadline stands; undefined when it does not, or is paused. */
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

  /** Stops the time that is left of a deadline. */
  pause(name: Name, nowMs: number): void {
    if (!this.#isUsed()) return;
    this.#storage.sql.exec(
      "UPDATE deadlines SET left_ms = max(0, at_ms - ?), at_ms = NULL WHERE name = ? AND at_ms IS NOT NULL",
      nowMs,
      name,
    );
    this.arm();
  }

  /** Lets the rest of a paused deadline pass. */
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
   * Puts the alarm where the earliest deadline is. After an alarm has rung there is none, whatever was
   * set before: `again` says so.
   */
  arm({ again = false } = {}): void {
    if (!this.#isUsed()) return;
    const { at } = this.#storage.sql
      .exec<{ at: number | null }>("SELECT min(at_ms) AS at FROM deadlines")
      .one();
    const atMs = at ?? undefined;
    if (atMs === this.#armedMs && !again) return;
    this.#armedMs = atMs;
    // It is part of the same commit; when that fails, the platform resets the object.
    if (atMs === undefined) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(atMs);
  }

  #isUsed(): boolean {
    const tables = this.#storage.sql.exec(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'deadlines'",
    );
    return tables.toArray().length > 0;
  }

  #row(name: Name): DeadlineRow | undefined {
    if (!this.#isUsed()) return undefined;
    return this.#storage.sql
      .exec<DeadlineRow>("SELECT name, at_ms, left_ms FROM deadlines WHERE name = ?", name)
      .toArray()[0];
  }
}
