/** What a run's object does at a time of its own. */
export type DeadlineName =
  /** Looks whether the loop of an unfinished run still goes. */
  | "watchdog"
  /** Ends the run's time. */
  | "wall_clock"
  /** Ends the waiting for an operator. */
  | "outcome"
  /** Ends the waiting for people's approval. */
  | "approval"
  /** Tries again to publish what is not published yet. */
  | "outbox"
  /** Shrinks a finished run to what its key needs. */
  | "retention"
  /** Forgets the run. */
  | "forget";

type DeadlineRow = { name: DeadlineName; at_ms: number | null; left_ms: number | null };

/**
 * Many deadlines over the one alarm that an object has: the alarm stands at the earliest.
 * Ownership: one per run object; the only writer of the `deadlines` table and of the alarm.
 * Contract: a deadline is met at least once, and stays until it is cleared or set anew. The alarm is
 * stored together with whatever is written in the same turn.
 */
export class Deadlines {
  readonly #storage: DurableObjectStorage;
  #armedMs: number | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  set(name: DeadlineName, atMs: number): void {
    this.#storage.sql.exec(
      "INSERT OR REPLACE INTO deadlines (name, at_ms, left_ms) VALUES (?, ?, NULL)",
      name,
      atMs,
    );
    this.arm();
  }

  /** Tells when a deadline stands; undefined when it does not, or is paused. */
  at(name: DeadlineName): number | undefined {
    return this.#row(name)?.at_ms ?? undefined;
  }

  has(name: DeadlineName): boolean {
    return this.#row(name) !== undefined;
  }

  clear(...names: readonly DeadlineName[]): void {
    for (const name of names) this.#storage.sql.exec("DELETE FROM deadlines WHERE name = ?", name);
    this.arm();
  }

  /** Stops the time that is left of a deadline. */
  pause(name: DeadlineName, nowMs: number): void {
    this.#storage.sql.exec(
      "UPDATE deadlines SET left_ms = max(0, at_ms - ?), at_ms = NULL WHERE name = ? AND at_ms IS NOT NULL",
      nowMs,
      name,
    );
    this.arm();
  }

  /** Lets the rest of a paused deadline pass. */
  resume(name: DeadlineName, nowMs: number): void {
    this.#storage.sql.exec(
      "UPDATE deadlines SET at_ms = ? + left_ms, left_ms = NULL WHERE name = ? AND left_ms IS NOT NULL",
      nowMs,
      name,
    );
    this.arm();
  }

  due(nowMs: number): readonly DeadlineName[] {
    return this.#storage.sql
      .exec<{ name: DeadlineName }>(
        "SELECT name FROM deadlines WHERE at_ms <= ? ORDER BY at_ms",
        nowMs,
      )
      .toArray()
      .map(({ name }) => name);
  }

  /**
   * Puts the alarm where the earliest deadline is. After an alarm has rung there is none, whatever was
   * set before: `again` says so.
   */
  arm({ again = false } = {}): void {
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

  #row(name: DeadlineName): DeadlineRow | undefined {
    return this.#storage.sql
      .exec<DeadlineRow>("SELECT name, at_ms, left_ms FROM deadlines WHERE name = ?", name)
      .toArray()[0];
  }
}
