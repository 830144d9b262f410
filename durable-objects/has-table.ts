/** Tells whether a table exists, so that a read of an unused object creates none. */
export function hasTable(sql: SqlStorage, name: string): boolean {
  const rows = sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name);
  return rows.toArray().length > 0;
}
