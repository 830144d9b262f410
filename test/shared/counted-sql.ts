/** A database that counts the rows which are read through it. */
export function countRows(sql: SqlStorage): {
  readonly counted: SqlStorage;
  /** Counts the rows since the last count. */
  readonly take: () => number;
} {
  const read: SqlStorageCursor<never>[] = [];
  const exec = (...all: Parameters<SqlStorage["exec"]>) => {
    const cursor = sql.exec(...all);
    read.push(cursor as SqlStorageCursor<never>);
    return cursor;
  };
  return {
    counted: { exec } as unknown as SqlStorage,
    take: () => read.splice(0).reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  };
}
