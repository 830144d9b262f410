import type {
  RateLimit,
  Reservation,
  ReservationAnswer,
} from "../../../src/capabilities/budget.ts";
import {
  areCountable,
  findExhausted,
  grantWithin,
  isSameAmounts,
  replaceAmounts,
  type BudgetAmounts,
} from "../../../src/protocol/budget/amounts.ts";
import type { ConsentList } from "./consent-list.ts";
import { CostCounts } from "./cost-counts.ts";
import {
  StoredReservations,
  windowAt,
  type StoredReservation,
  type Window,
} from "./stored-reservations.ts";

/** Reservations that one alarm closes; the next alarm follows at once. */
const MAX_LAPSED = 500;

/**
 * The budgets of a tenant in SQLite: amounts used per fixed window. A reservation counts in the
 * window in which it was made, also when it is closed later.
 * Contract: synchronous, so the check of a limit and the reservation are one step. The caller syncs
 * storage before it answers. Storage holds at most one day of reservations and two windows of each
 * length in use.
 */
export class BudgetBook {
  readonly #storage: DurableObjectStorage;
  readonly #reservations: StoredReservations;
  readonly #costs: CostCounts;
  readonly #consents: ConsentList;

  constructor(storage: DurableObjectStorage, consents: ConsentList) {
    this.#consents = consents;
    this.#storage = storage;
    this.#reservations = new StoredReservations(storage.sql);
    this.#costs = new CostCounts(storage.sql);
  }

  get #sql(): SqlStorage {
    return this.#storage.sql;
  }

  /** Reserves the requested amounts, or as much as is left but not below `least`, or nothing. */
  reserve(reservation: Reservation, nowMs: number): ReservationAnswer {
    if (!isCountable(reservation)) return { kind: "unavailable" };
    return this.#storage.transactionSync(() => {
      this.#createTables();
      const known = this.#reservations.find(reservation.id, nowMs);
      if (known && isUnchanged(known, reservation)) return reserved(reservation, known);
      if (known) this.#withdraw(known);
      const answer = this.#reserveNew(reservation, { nowMs, isKnown: known !== undefined });
      if (known && answer.kind !== "reserved") this.#restore(known);
      return answer;
    });
  }

  /** Answers what `reserve` would answer now, and leaves nothing behind. */
  peek(reservation: Reservation, nowMs: number): ReservationAnswer {
    let answer: ReservationAnswer = { kind: "unavailable" };
    // A throw is the only way to undo a transaction.
    const undo = new Error("nothing is reserved");
    try {
      this.#storage.transactionSync(() => {
        answer = this.reserve(reservation, nowMs);
        throw undo;
      });
    } catch (thrown) {
      if (thrown !== undo) throw thrown;
    }
    return answer;
  }

  #reserveNew(
    reservation: Reservation,
    { nowMs, isKnown }: { readonly nowMs: number; readonly isKnown: boolean },
  ): ReservationAnswer {
    const { amounts, limits, toolId, rateLimit, capped, consent } = reservation;
    const least = { ...amounts, ...reservation.least };
    const window = windowAt(nowMs, reservation.windowSeconds);
    const spent = this.#spentIn(window) ?? {};
    const budget = findExhausted(limits, spent, least);
    if (budget) return { kind: "exhausted", budget };
    if (capped && this.#costs.exceeds(capped, amounts.cost ?? 0, nowMs)) return { kind: "capped" };
    const consentId = consent && this.#consents.find(consent, nowMs);
    if (consent?.id !== undefined && consentId === undefined) return { kind: "no_consent" };
    const retryAfterMs =
      rateLimit && !isKnown ? this.#countCall(toolId, rateLimit, nowMs) : undefined;
    if (retryAfterMs !== undefined) return { kind: "rate_limited", retryAfterMs };
    const granted = grantWithin(limits, spent, { amounts, least });
    this.#spend(window, replaceAmounts(spent, {}, granted));
    const counted = capped && this.#costs.count(capped, granted.cost ?? 0, nowMs);
    if (consentId !== undefined) this.#consents.use(consentId);
    this.#reservations.open(reservation, { granted, window, nowMs, capped: counted, consentId });
    this.#clear("spent", nowMs);
    return reserved(reservation, { granted, consentId });
  }

  /** Replaces the reserved amounts by the used amounts, once. Does not check the limits. */
  settle(id: string, used: BudgetAmounts, nowMs: number): void {
    if (areCountable(used)) this.#close(id, { state: "settled", counted: used }, nowMs);
  }

  /** Returns the reserved amounts to the budget, and the use of a consent, once. */
  release(id: string, nowMs: number): void {
    this.#close(id, { state: "released", counted: {} }, nowMs);
  }

  /**
   * Closes reservations that nobody settled in time. Each one counts the most its call may have
   * used.
   */
  lapse(nowMs: number): void {
    this.#storage.transactionSync(() => {
      for (const { reservation, keeps } of this.#reservations.overdue(nowMs, MAX_LAPSED)) {
        this.#recount(reservation, keeps);
        this.#reservations.close(reservation.id, { state: "lapsed", counted: keeps });
      }
    });
  }

  /** Tells when the next reservation lapses; undefined when none is open. */
  nextLapseMs(): number | undefined {
    return this.#reservations.nextLapseMs();
  }

  /** A lapsed reservation may still be settled: the real amounts replace the assumed ones. */
  #close(
    id: string,
    end: { readonly state: "settled" | "released"; readonly counted: BudgetAmounts },
    nowMs: number,
  ): void {
    this.#storage.transactionSync(() => {
      const known = this.#reservations.find(id, nowMs);
      if (!known || known.state === "settled" || known.state === "released") return;
      this.#recount(known, end.counted);
      if (end.state === "released" && known.consentId) this.#consents.giveBack(known.consentId);
      this.#reservations.close(id, end);
    });
  }

  /** Takes back what a reservation counts, because another one takes its place. */
  #withdraw(known: StoredReservation): void {
    this.#recount(known, {});
    if (known.state !== "released" && known.consentId) this.#consents.giveBack(known.consentId);
  }

  #restore(known: StoredReservation): void {
    this.#recount({ ...known, counted: {} }, known.counted);
    if (known.state !== "released" && known.consentId) this.#consents.use(known.consentId);
  }

  /** Changes the amounts that a reservation counts. A window that was deleted stays deleted. */
  #recount({ window, counted, capped }: StoredReservation, now: BudgetAmounts): void {
    if (capped) this.#costs.recount(capped, (now.cost ?? 0) - (counted.cost ?? 0));
    const spent = this.#spentIn(window);
    if (spent) this.#spend(window, replaceAmounts(spent, counted, now));
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
       ) WITHOUT ROWID;`,
    );
    this.#reservations.createTable();
  }

  #spentIn({ lengthMs, startMs }: Window): BudgetAmounts | undefined {
    const [row] = this.#sql
      .exec<{ amounts: string }>(
        "SELECT amounts FROM spent WHERE length_ms = ? AND start_ms = ?",
        lengthMs,
        startMs,
      )
      .toArray();
    return row && (JSON.parse(row.amounts) as BudgetAmounts);
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

  /** The previous window stays, because clocks may step back a little. */
  #clear(table: "spent" | "tool_calls", nowMs: number): void {
    this.#sql.exec(`DELETE FROM ${table} WHERE start_ms + 2 * length_ms <= ?`, nowMs);
  }
}

/**
 * Tells whether a known reservation already answers the request. Other amounts for an open
 * reservation mean that a person edited the arguments of the call, and another consent that the
 * call was asked about again. A released reservation is made again.
 */
function isUnchanged(
  { state, granted, consentId }: StoredReservation,
  { amounts, least, consent }: Reservation,
): boolean {
  if (state === "settled") return true;
  if (consentId !== consent?.id) return false;
  return state !== "released" && (least !== undefined || isSameAmounts(granted, amounts));
}

function reserved(
  { least }: Reservation,
  {
    granted,
    consentId,
  }: Pick<StoredReservation, "granted"> & { readonly consentId?: string | undefined },
): ReservationAnswer {
  const by = consentId !== undefined && { consentId };
  return { kind: "reserved", ...(least && { granted }), ...by };
}

/**
 * Threat: negative amounts or fractions could pass any limit, or return used amounts to a budget.
 */
function isCountable(reservation: Reservation): boolean {
  const { amounts, least = {}, limits, windowSeconds, rateLimit, unsettled } = reservation;
  const { caps = [] } = reservation.capped ?? {};
  const windows = [{ windowSeconds }, ...(rateLimit ? [rateLimit] : []), ...caps];
  return (
    [
      amounts,
      least,
      limits,
      unsettled?.keeps ?? {},
      ...caps.map(({ max }) => ({ cost: max })),
    ].every(areCountable) &&
    windows.every(
      ({ windowSeconds: seconds }) => Number.isSafeInteger(seconds * 1_000) && seconds >= 1,
    ) &&
    Number.isSafeInteger(rateLimit?.maxRequests ?? 0) &&
    Number.isSafeInteger(unsettled?.forMs ?? 0)
  );
}
