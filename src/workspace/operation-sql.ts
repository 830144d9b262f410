import * as v from "valibot";
import type { SqlValue, WorkspaceSql } from "../contracts/define/define-workspace.ts";
import type { Database } from "./database.ts";

/** What an operation reads and changes its workspace with. */
export function createSql(database: Database): WorkspaceSql {
  const read: WorkspaceSql["rows"] = (row, query, ...bindings) =>
    database.query(query, bindings).map((found) => v.parse(row, found));
  return {
    rows: read,
    first: (row, query, ...bindings) => read(row, query, ...bindings)[0],
    run(query: string, ...bindings: readonly SqlValue[]): number {
      database.query(query, bindings);
      return database.query("SELECT changes() AS changed")[0]?.["changed"] as number;
    },
  };
}
