import type { CallFilters, ListPage, ListPosition } from "../../../src/protocol/list/page.ts";
import { toListPage } from "../../../src/protocol/list/page.ts";

/** Rows that a page looks at for what no index finds. */
export const LOOKED_AT = 1_000;

/** How many rows a page looks at, those too that do not fit; -1: it is given only rows that fit. */
export function mostRows({ person, assistant }: CallFilters): number {
  return person === undefined && assistant === undefined ? -1 : LOOKED_AT;
}

/**
 * Tells in SQL whether the run of a row was one of an assistant. Both are named in SQL, too.
 * The directory of runs has its table before any list has a row.
 */
export function ofAssistant(run: string, assistant: string): string {
  return `(${assistant} IS NULL OR ${assistant} = (
    SELECT json_extract(runs.summary, '$.assistantId') FROM runs WHERE runs.run_id = ${run}))`;
}

/** A row that a page looks at; `body` is null where the filters keep it out. */
type LookedAt = { body: string | null };

interface Page<Row extends LookedAt, Item> {
  readonly limit: number;
  readonly most: number;
  readonly itemOf: (row: Row & { body: string }) => Item;
  readonly positionOf: (row: Row) => ListPosition;
}

/**
 * Makes a page of the rows that fit. A row is read when it is looked at, so a full page reads no
 * further. A page that has looked at its most rows ends there, and the next one goes on behind.
 */
export function lookThrough<Row extends LookedAt, Item>(
  rows: Iterable<Row>,
  { limit, most, itemOf, positionOf }: Page<Row, Item>,
): ListPage<Item> {
  const found: (Row & { body: string })[] = [];
  let looked = 0;
  let last: Row | undefined;
  for (const row of rows) {
    looked += 1;
    last = row;
    const { body } = row;
    if (body !== null) found.push({ ...row, body });
    if (found.length > limit) break;
  }
  const page = toListPage(found, limit, { itemOf, positionOf });
  return last && looked === most && !page.next ? { ...page, next: positionOf(last) } : page;
}
