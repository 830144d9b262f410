/** A position in a list that is ordered by time. Unit: Unix milliseconds. */
export interface ListPosition {
  readonly atMs: number;
  /** Orders items of the same time. */
  readonly id: string;
}

/** Narrows a list of calls. */
export interface CallFilters {
  readonly tool?: string | undefined;
  /** For whom the run acts. */
  readonly person?: string | undefined;
  /** Of the run. */
  readonly assistant?: string | undefined;
}

/** One page of a list, and where the next page starts; `next` is absent on the last page. */
export interface ListPage<T, P = ListPosition> {
  readonly items: readonly T[];
  readonly next?: P;
}

/** Makes a page of `limit` items. Contract: `rows` were read with a limit of one more. */
export function toListPage<Row, T, P>(
  rows: readonly Row[],
  limit: number,
  {
    itemOf,
    positionOf,
  }: { readonly itemOf: (row: Row) => T; readonly positionOf: (row: Row) => P },
): ListPage<T, P> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const items = shown.map(itemOf);
  return rows.length > limit && last !== undefined ? { items, next: positionOf(last) } : { items };
}
