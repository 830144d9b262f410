import type { Reservation } from "../../../src/capabilities/budget.ts";
import { capAmounts, type BudgetAmounts } from "../../../src/protocol/budget/amounts.ts";
import type { SelectedTool } from "../../../src/protocol/policy/selector.ts";
import { hasTable } from "../../has-table.ts";

/** Time for which a repeated reservation with the same id is recognised. */
const REMEMBERED_MS = 24 * 60 * 60 * 1_000;
/** Old reservations that one new reservation deletes. */
const MAX_FORGOTTEN = 100;

/** A fixed window; it starts at a multiple of its length since 1970. */
export interface Window {
  readonly lengthMs: number;
  readonly startMs: number;
}

export function windowAt(nowMs: number, windowSeconds: number): Window {
  const lengthMs = windowSeconds * 1_000;
  return { lengthMs, startMs: nowMs - (nowMs % lengthMs) };
}

/** State of a reservation. A `lapsed` one was not closed in time. */
type ReservationState = "open" | "lapsed" | "settled" | "released";

/** A reservation as stored. */
export interface StoredReservation {
  readonly id: string;
  readonly state: ReservationState;
  readonly window: Window;
  /** Amounts that were granted. */
  readonly granted: BudgetAmounts;
  /** Amounts that count in its window now. */
  readonly counted: BudgetAmounts;
  /** Present when caps count its cost. */
  readonly capped?: CountedCost;
  /** The consent that answers the call, if one does. */
  readonly consentId?: string | undefined;
}

/** What a new reservation counts. */
interface Made extends Pick<StoredReservation, "granted" | "window"> {
  readonly capped: CountedCost | undefined;
  readonly consentId: string | undefined;
  readonly nowMs: number;
}

/** What a reservation counts of its cost: for which tool, and in which windows. */
export interface CountedCost {
  readonly tool: SelectedTool;
  readonly windows: readonly Window[];
}

/**
 * Stores a tenant's reservations for a day, and open reservations until they lapse.
 * Contract: as BudgetBook.
 */
export class StoredReservations {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  createTable(): void {
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS reserved (
         id TEXT PRIMARY KEY, made_ms INTEGER NOT NULL, state TEXT NOT NULL,
         length_ms INTEGER NOT NULL, start_ms INTEGER NOT NULL,
         granted TEXT NOT NULL, counted TEXT NOT NULL, keeps TEXT, lapses_ms INTEGER,
         capped TEXT, consent_id TEXT
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS reserved_by_age ON reserved (made_ms);
       CREATE INDEX IF NOT EXISTS reserved_by_lapse ON reserved (lapses_ms)
         WHERE lapses_ms IS NOT NULL;`,
    );
  }

  find(id: string, nowMs: number): StoredReservation | undefined {
    if (!this.#isUsed()) return undefined;
    const [row] = this.#sql
      .exec<ReservedRow>(
        "SELECT * FROM reserved WHERE id = ? AND (made_ms > ? OR lapses_ms IS NOT NULL)",
        id,
        nowMs - REMEMBERED_MS,
      )
      .toArray();
    return row && toReservation(row);
  }

  /** Stores a new reservation, and deletes old ones. */
  open({ id, unsettled }: Reservation, made: Made): void {
    const { nowMs, window } = made;
    const granted = JSON.stringify(made.granted);
    const keeps = unsettled && capAmounts(unsettled.keeps, made.granted);
    this.#sql.exec(
      `INSERT OR REPLACE INTO reserved
         (id, made_ms, state, length_ms, start_ms, granted, counted, keeps, lapses_ms,
          capped, consent_id)
       VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      nowMs,
      window.lengthMs,
      window.startMs,
      granted,
      granted,
      keeps ? JSON.stringify(keeps) : null,
      unsettled ? nowMs + unsettled.forMs : null,
      made.capped ? JSON.stringify(made.capped) : null,
      made.consentId ?? null,
    );
    this.#sql.exec(
      `DELETE FROM reserved WHERE id IN (
         SELECT id FROM reserved WHERE made_ms <= ? AND lapses_ms IS NULL
         ORDER BY made_ms LIMIT ?)`,
      nowMs - REMEMBERED_MS,
      MAX_FORGOTTEN,
    );
  }

  /** Closes a reservation, so that it does not lapse any more. */
  close(id: string, { state, counted }: Pick<StoredReservation, "state" | "counted">): void {
    this.#sql.exec(
      "UPDATE reserved SET state = ?, counted = ?, lapses_ms = NULL WHERE id = ?",
      state,
      JSON.stringify(counted),
      id,
    );
  }

  /** Open reservations that are overdue, the oldest first. */
  overdue(
    nowMs: number,
    most: number,
  ): readonly { readonly reservation: StoredReservation; readonly keeps: BudgetAmounts }[] {
    if (!this.#isUsed()) return [];
    return this.#sql
      .exec<ReservedRow>(
        "SELECT * FROM reserved WHERE lapses_ms <= ? ORDER BY lapses_ms LIMIT ?",
        nowMs,
        most,
      )
      .toArray()
      .map((row) => ({
        reservation: toReservation(row),
        keeps: JSON.parse(row.keeps ?? row.counted) as BudgetAmounts,
      }));
  }

  nextLapseMs(): number | undefined {
    if (!this.#isUsed()) return undefined;
    const { at } = this.#sql
      .exec<{ at: number | null }>(
        "SELECT min(lapses_ms) AS at FROM reserved WHERE lapses_ms IS NOT NULL",
      )
      .one();
    return at ?? undefined;
  }

  #isUsed(): boolean {
    return hasTable(this.#sql, "reserved");
  }
}

type ReservedRow = {
  id: string;
  state: ReservationState;
  length_ms: number;
  start_ms: number;
  granted: string;
  counted: string;
  keeps: string | null;
  capped: string | null;
  consent_id: string | null;
};

function toReservation(row: ReservedRow): StoredReservation {
  return {
    id: row.id,
    state: row.state,
    window: { lengthMs: row.length_ms, startMs: row.start_ms },
    granted: JSON.parse(row.granted) as BudgetAmounts,
    counted: JSON.parse(row.counted) as BudgetAmounts,
    ...(row.capped !== null && { capped: JSON.parse(row.capped) as CountedCost }),
    ...(row.consent_id !== null && { consentId: row.consent_id }),
  };
}
