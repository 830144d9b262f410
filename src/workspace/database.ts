import type { SqlValue } from "../contracts/define/define-workspace.ts";

/** A row as SQLite gives it. */
export type SqlRow = { readonly [column: string]: unknown };

/** The SQLite database of one workspace. Contract: everything is synchronous. */
export interface Database {
  /** Runs one statement and reads its rows. */
  query(text: string, bindings?: readonly SqlValue[]): readonly SqlRow[];
  /** Runs several statements without bindings. */
  script(text: string): void;
  /** Runs in one transaction, or within the one that is open. A throw rolls it back. */
  transaction<T>(run: () => T): T;
}
