import { addMeasures, type Measures } from "../../../src/protocol/metric/measures.ts";
import { hasTable } from "../../has-table.ts";

/** Rows that are added up into one, so that a report costs one row and a read few. */
const FOLDED_ROWS = 64;
/** Series of a tenant that are counted apart: tools in their versions, models and reasons. */
const MAX_SERIES = 2_000;

/**
 * What the runs of a tenant counted, in SQLite. It names no person, so nothing of it is erased.
 * Ownership: one per tenant object; the only writer of the `measures` table.
 * Contract: synchronous; the first report creates the table.
 */
export class MeasureCounts {
  readonly #sql: SqlStorage;
  #hasTable: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds what a run counted. Contract: part of a transaction of the caller. */
  add(measures: Measures): void {
    this.#createTable();
    const { rows } = this.#sql
      .exec<{ rows: number }>("SELECT count(*) AS rows FROM measures")
      .one();
    if (rows < FOLDED_ROWS) return this.#put(rows + 1, measures);
    const sum = addMeasures([this.read(), measures], MAX_SERIES);
    this.#sql.exec("DELETE FROM measures");
    this.#put(1, sum);
  }

  /** Reads the sum of everything. */
  read(): Measures {
    if (!this.#exists) return {};
    const rows = this.#sql.exec<{ counts: string }>("SELECT counts FROM measures");
    const all = rows.toArray().map(({ counts }) => JSON.parse(counts) as Measures);
    return addMeasures(all, MAX_SERIES);
  }

  #put(number: number, measures: Measures): void {
    const counts = JSON.stringify(measures);
    this.#sql.exec("INSERT INTO measures (number, counts) VALUES (?, ?)", number, counts);
  }

  get #exists(): boolean {
    return (this.#hasTable ??= hasTable(this.#sql, "measures"));
  }

  #createTable(): void {
    if (this.#exists) return;
    this.#sql.exec("CREATE TABLE measures (number INTEGER PRIMARY KEY, counts TEXT NOT NULL)");
    this.#hasTable = true;
  }
}
