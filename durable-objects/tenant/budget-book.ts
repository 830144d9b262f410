import type {
  Charge,
  RateLimit,
  Reservation,
  ReservationAnswer,
} from "../../src/capabilities/budget-ledger.ts";
import {
  addAmounts,
  areCountable,
  findExhausted,
  type BudgetAmounts,
} from "../../src/protocol/budget.ts";

/** How long a reservation is known by its id. */
const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
/** Old reservations that one new one clears away. */
const MAX_FORGOTTEN = 100;

/** A stretch of time; each begins at a multiple of its length since 1970. */
interface Window {
  readonly lengthMs: number;
  readonly startMs: number;
}

/**
 * What a tenant's calls used up, in SQLite, by fixed windows.
 * Contract: synchronous, so nothing comes between the look at what is left and the taking of it.
 * Whoever calls makes it durable before answering. Storage is bounded by one day of reservations and
 * two windows of each length in use.
 */
export class BudgetBook {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  /** Takes all that a reservation asks for, or nothing. */
  reserve(reservation: Reservation, nowMs: number): ReservationAnswer {
    if (!isCountable(reservation)) return { kind: "unavailable" };
    return this.#storage.transactionSync(() => {
      this.#createTables();
      if (this.#isReserved(reservation.id, nowMs)) return { kind: "reserved" };
      const { amounts, limits, toolId, rateLimit } = reservation;
      const window = windowAt(nowMs, reservation.windowSeconds);
      const spent = this.#spentIn(window);
      const budget = findExhausted(limits, spent, amounts);
      if (budget) return { kind: "exhausted", budget };
      const retryAfterMs = rateLimit && this.#countCall(toolId, rateLimit, nowMs);
      if (retryAfterMs !== undefined) return { kind: "rate_limited", retryAfterMs };
      this.#spend(window, addAmounts(spent, amounts));
      this.#remember(reservation.id, nowMs);
      this.#clear("spent", nowMs);
      this.#forget(nowMs);
      return { kind: "reserved" };
    });
  }

  /** Counts amounts whatever the limits; the same id again counts nothing. */
  charge({ id, amounts, windowSeconds }: Charge, nowMs: number): void {
    if (!areCountable(amounts)) return;
    this.#storage.transactionSync(() => {
      this.#createTables();
      if (this.#isReserved(id, nowMs)) return;
      const window = windowAt(nowMs, windowSeconds);
      this.#spend(window, addAmounts(this.#spentIn(window), amounts));
      this.#remember(id, nowMs);
    });
  }

  #createTables(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS spent (
         length_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL, amounts TEXT NOT NULL,
         PRIMARY KEY (length_ms, start_ms)
       ) WITHOUT ROWID;
       CREATE TABLE IF NOT EXISTS tool_calls (
         tool_id TEXT NOT NULL, length_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL,
         calls INTEGER NOT NULL, PRIMARY KEY (tool_id, length_ms, start_ms)
       ) WITHOUT ROWID;
       CREATE TABLE IF NOT EXISTS reservations (
         id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS reservations_by_age ON reservations (made_ms);`,
    );
  }

  #isReserved(id: string, nowMs: number): boolean {
    const [row] = this.#sql
      .exec("SELECT 1 FROM reservations WHERE id = ? AND made_ms > ?", id, nowMs - REMEMBERED_MS)
      .toArray();
    return row !== undefined;
  }

  #remember(id: string, nowMs: number): void {
    this.#sql.exec("INSERT OR REPLACE INTO reservations (id, made_ms) VALUES (?, ?)", id, nowMs);
  }

  #spentIn({ lengthMs, startMs }: Window): BudgetAmounts {
    const [row] = this.#sql
      .exec<{ amounts: string }>(
        "SELECT amounts FROM spent WHERE length_ms = ? AND start_ms = ?",
        lengthMs,
        startMs,
      )
      .toArray();
    return row ? (JSON.parse(row.amounts) as BudgetAmounts) : {};
  }

  #spend({ lengthMs, startMs }: Window, amounts: BudgetAmounts): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO spent (length_ms, start_ms, amounts) VALUES (?, ?, ?)",
      lengthMs,
      startMs,
      JSON.stringify(amounts),
    );
  }

  /** Counts one call of a tool; answers how long to wait when there is no room for it. */
  #countCall(toolId: string, limit: RateLimit, nowMs: number): number | undefined {
    const { lengthMs, startMs } = windowAt(nowMs, limit.windowSeconds);
    const [row] = this.#sql
      .exec<{ calls: number }>(
        "SELECT calls FROM tool_calls WHERE tool_id = ? AND length_ms = ? AND start_ms = ?",
        toolId,
        lengthMs,
        startMs,
      )
      .toArray();
    const calls = row?.calls ?? 0;
    if (calls >= limit.maxRequests) return startMs + lengthMs - nowMs;
    if (!row) this.#clear("tool_calls", nowMs);
    this.#sql.exec(
      "INSERT OR REPLACE INTO tool_calls (tool_id, length_ms, start_ms, calls) VALUES (?, ?, ?, ?)",
      toolId,
      lengthMs,
      startMs,
      calls + 1,
    );
    return undefined;
  }

  /** The window before the current one stays, for clocks that step back a little. */
  #clear(table: "spent" | "tool_calls", nowMs: number): void {
    this.#sql.exec(`DELETE FROM ${table} WHERE start_ms + 2 * length_ms <= ?`, nowMs);
  }

  #forget(nowMs: number): void {
    this.#sql.exec(
      `DELETE FROM reservations WHERE id IN (
         SELECT id FROM reservations WHERE made_ms <= ? ORDER BY made_ms LIMIT ?)`,
      nowMs - REMEMBERED_MS,
      MAX_FORGOTTEN,
    );
  }
}

function windowAt(nowMs: number, windowSeconds: number): Window {
  const lengthMs = windowSeconds * 1_000;
  return { lengthMs, startMs: nowMs - (nowMs % lengthMs) };
}

/** What is no whole number would pass any limit, or give back what was spent. */
function isCountable({ amounts, limits, windowSeconds, rateLimit }: Reservation): boolean {
  const lengths = [windowSeconds, ...(rateLimit ? [rateLimit.windowSeconds] : [])];
  return (
    areCountable(amounts) &&
    areCountable(limits) &&
    lengths.every((seconds) => Number.isSafeInteger(seconds * 1_000) && seconds >= 1) &&
    Number.isSafeInteger(rateLimit?.maxRequests ?? 0)
  );
}
