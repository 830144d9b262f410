import {
  addMeasures,
  seriesOf,
  type DailySpending,
  type DayRange,
  type Measures,
} from "../../../src/protocol/metric/measures.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import type { TenantNotice } from "../../../src/protocol/run/tenant-notice.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";
import { hasTable } from "../../has-table.ts";
import { cleanMeasures } from "./clean-records.ts";

/** Rows that are added up into one, so that a report costs one row and a read few. */
const FOLDED_ROWS = 64;
/** Series of a tenant that are counted apart: tools in their versions, models and reasons. */
const MAX_SERIES = 2_000;
/** Series of one day that are counted apart. */
const MAX_SERIES_OF_DAY = 1_000;
/** A year, and a month to compare it with. */
const KEPT_DAYS = 400;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** A run tells of its end sooner, unless its outbox cannot deliver. */
const LATE_MS = 60_000;

/**
 * What the runs of a tenant counted, and what they used day by day, in SQLite. It names no person,
 * so nothing of it is erased.
 * Ownership: one per tenant object; the only writer of the tables `measures` and `spending`.
 * Contract: synchronous; the first report creates the tables.
 */
export class MeasureCounts {
  readonly #sql: SqlStorage;
  #hasTables: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Adds what a batch of notices counts, in one row. A deployment without metrics counts nothing.
   * Contract: part of a transaction of the caller.
   */
  note(notices: readonly TenantNotice[], nowMs: number): void {
    const reports = notices.filter(({ type }) => type === "measures") as readonly Report[];
    if (reports.length === 0 && !this.#exist) return;
    const failed = notices.flatMap((notice) =>
      notice.type === "audit" && notice.entry.action === "model.failed"
        ? [{ [seriesOf("model", notice.entry.model ?? "")]: { failed: 1 } }]
        : [],
    );
    const isLate =
      reports.length > 0 &&
      notices.some((notice) => notice.type === "run" && nowMs - endMs(notice.run, nowMs) > LATE_MS);
    const late = isLate ? [{ [seriesOf("outbox")]: { late: 1 } }] : [];
    const all = [...reports.map(({ measures }) => measures), ...failed, ...late];
    if (all.length === 0) return;
    const spent = addMeasures(reports.map((report) => report.spent ?? {}));
    this.#add({ measures: addMeasures(all), spent }, nowMs);
  }

  #add({ measures, spent = {} }: Report, nowMs: number): void {
    this.#createTables();
    const row: Row = {
      counts: JSON.stringify(cleanMeasures(measures)),
      day: dayOf(nowMs),
      spent: toText(cleanMeasures(spent)),
    };
    const { rows } = this.#sql
      .exec<{ rows: number }>("SELECT count(*) AS rows FROM measures")
      .one();
    if (rows < FOLDED_ROWS) return this.#put(rows + 1, row);
    const all = this.#rows();
    this.#foldDays([...all, row], dayOf(nowMs - KEPT_DAYS * DAY_MS));
    this.#sql.exec("DELETE FROM measures");
    const sum = addMeasures([...all, row].map(readCounts), MAX_SERIES);
    this.#put(1, { counts: JSON.stringify(sum), day: row.day, spent: null });
  }

  /** Reads the sum of everything. */
  read(): Measures {
    return addMeasures(this.#rows().map(readCounts), MAX_SERIES);
  }

  /** Reads what was used on some days, the newest first. */
  spending({ from, to }: DayRange): readonly DailySpending[] {
    const isWanted = ({ day }: { readonly day: string }): boolean => from <= day && day <= to;
    const stored = this.#exist
      ? this.#sql
          .exec<SpentRow>("SELECT * FROM spending WHERE day >= ? AND day <= ?", from, to)
          .toArray()
      : [];
    const days = Map.groupBy([...stored, ...this.#rows().filter(isWanted)], ({ day }) => day);
    return [...days]
      .map(([day, rows]) => ({ day, spent: addMeasures(rows.map(readSpent), MAX_SERIES_OF_DAY) }))
      .filter(({ spent }) => Object.keys(spent).length > 0)
      .toSorted((a, b) => (a.day < b.day ? 1 : -1));
  }

  #rows(): readonly Row[] {
    if (!this.#exist) return [];
    return this.#sql.exec<Row>("SELECT counts, day, spent FROM measures").toArray();
  }

  #put(number: number, { counts, day, spent }: Row): void {
    this.#sql.exec(
      "INSERT INTO measures (number, counts, day, spent) VALUES (?, ?, ?, ?)",
      number,
      counts,
      day,
      spent,
    );
  }

  #foldDays(rows: readonly Row[], firstKept: string): void {
    const added = Map.groupBy(
      rows.filter(({ spent }) => spent !== null),
      ({ day }) => day,
    );
    for (const [day, reports] of added) {
      const before = this.#sql
        .exec<SpentRow>("SELECT * FROM spending WHERE day = ?", day)
        .toArray();
      const sum = addMeasures([...before, ...reports].map(readSpent), MAX_SERIES_OF_DAY);
      const text = JSON.stringify(sum);
      this.#sql.exec("INSERT OR REPLACE INTO spending (day, spent) VALUES (?, ?)", day, text);
    }
    this.#sql.exec("DELETE FROM spending WHERE day < ?", firstKept);
  }

  get #exist(): boolean {
    return (this.#hasTables ??= hasTable(this.#sql, "measures"));
  }

  #createTables(): void {
    if (this.#exist) return;
    this.#sql.exec(
      `CREATE TABLE measures (
         number INTEGER PRIMARY KEY, counts TEXT NOT NULL, day TEXT NOT NULL, spent TEXT
       );
       CREATE TABLE spending (day TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID`,
    );
    this.#hasTables = true;
  }
}

type Report = Pick<Extract<TenantNotice, { type: "measures" }>, "measures" | "spent">;
type Row = { counts: string; day: string; spent: string | null };
type SpentRow = { day: string; spent: string };

const endMs = ({ endedAt }: RunSummary, otherwise: number): number =>
  endedAt === undefined ? otherwise : Date.parse(endedAt);
const readCounts = ({ counts }: Pick<Row, "counts">): Measures => JSON.parse(counts) as Measures;
const readSpent = ({ spent }: Pick<Row, "spent">): Measures =>
  JSON.parse(spent ?? "{}") as Measures;

function toText(spent: Measures): string | null {
  return Object.keys(spent).length === 0 ? null : JSON.stringify(spent);
}

function dayOf(ms: number): string {
  return toIso(ms).slice(0, 10);
}
