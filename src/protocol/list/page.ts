/** A place in a list that is ordered by time. Unit: Unix milliseconds. */
export interface ListPosition {
  readonly atMs: number;
  /** Tells apart what has one time. */
  readonly id: string;
}

/** A stretch of a list, and where it goes on; `next` is absent at the end. */
export interface ListPage<T, P = ListPosition> {
  readonly items: readonly T[];
  readonly next?: P;
}

/** Cuts what was read with one more than asked to a slice. */
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
