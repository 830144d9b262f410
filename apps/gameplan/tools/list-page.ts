import * as v from "valibot";
import { cursor } from "./entities/fields.ts";
import type { WorkspaceReads } from "interlock-edge/tools";

const MOST_ITEMS = 100;
const USUAL_ITEMS = 50;

/** Arguments of a list. */
export const pageArguments = {
  after: v.exactOptional(
    v.pipe(cursor, v.description("`next` of the page before. Absent: the first page.")),
  ),
  limit: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_ITEMS))),
};

export interface PageArguments {
  readonly after?: string;
  readonly limit?: number;
}

/** Reads a cursor that is a number. Any other text continues at `start`. */
export function placeAfter({ after }: PageArguments, start: number): number {
  return after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : start;
}

export interface ListPage<Item> {
  readonly items: Item[];
  readonly total: number;
  readonly next: string | null;
}

/** Makes a page of rows of which one more was read than the page may hold. */
export function makePage<Row, Item>(
  rows: readonly Row[],
  list: {
    readonly page: PageArguments;
    readonly total: number;
    readonly cursorOf: (row: Row) => string;
    readonly show: (row: Row) => Item;
  },
): ListPage<Item> {
  const { page, total, cursorOf, show } = list;
  const shown = rows.slice(0, rowsOf(page) - 1);
  const last = shown.at(-1);
  return {
    items: shown.map(show),
    total,
    next: rows.length > shown.length && last !== undefined ? cursorOf(last) : null,
  };
}

/** How many rows to read for a page: one more than it holds. */
export function rowsOf({ limit = USUAL_ITEMS }: PageArguments): number {
  return limit + 1;
}

const countRow = v.object({ total: v.number() });

/** Counts the rows of a table. `where` is what follows WHERE. */
export function countRows(sql: WorkspaceReads, { table, where, bindings }: Selection): number {
  const query = `SELECT count(*) AS total FROM ${table} WHERE ${where}`;
  return sql.first(countRow, query, ...bindings)?.total ?? 0;
}

/** Rows of one table. Threat: `table` and `where` are code; values are bindings only. */
export interface Selection {
  readonly table: string;
  readonly where: string;
  readonly bindings: readonly (string | number)[];
}

/** Lists rows of a table, newest first. */
export function listNewest<Row extends v.GenericSchema<unknown, { readonly seq: number }>, Item>(
  sql: WorkspaceReads,
  list: Selection & {
    readonly row: Row;
    readonly columns: string;
    readonly page: PageArguments;
    readonly show: (row: Omit<v.InferOutput<Row>, "seq">) => Item;
  },
): ListPage<Item> {
  const { row, columns, table, where, bindings, page, show } = list;
  const rows = sql.rows(
    row,
    `SELECT seq, ${columns} FROM ${table} WHERE ${where} AND seq < ? ORDER BY seq DESC LIMIT ?`,
    ...bindings,
    placeAfter(page, Number.MAX_SAFE_INTEGER),
    rowsOf(page),
  );
  return makePage(rows, {
    page,
    total: countRows(sql, list),
    cursorOf: ({ seq }) => String(seq),
    show: (found) => show(withoutSeq(found)),
  });
}

/** A row without the number that gives it its place. */
function withoutSeq<Row extends { readonly seq: number }>(row: Row): Omit<Row, "seq"> {
  const { seq: _, ...shown } = row;
  return shown;
}
