import type { Database, SqlRow } from "../../workspace/database.ts";

/** The part of `node:sqlite` that is used here. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(text: string): void;
    prepare(text: string): { all(...bindings: readonly unknown[]): SqlRow[] };
  };
}

interface NodeProcess {
  readonly version: string;
  getBuiltinModule?(name: string): unknown;
}

/**
 * Opens an empty database in memory.
 * Fails: throws on a Node without `node:sqlite`, and tells which versions have it.
 */
export function openSqliteDatabase(): Database {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const sqlite = process?.getBuiltinModule?.("node:sqlite") as NodeSqlite | undefined;
  if (!sqlite) {
    const found = process?.version ?? "no Node";
    throw new Error(
      `testWorkspace needs node:sqlite. Use Node 22.13 or newer, or 22.5 with the option ` +
        `--experimental-sqlite; this is ${found}.`,
    );
  }
  const database = new sqlite.DatabaseSync(":memory:");
  let depth = 0;
  return {
    query: (text, bindings = []) => database.prepare(text).all(...bindings),
    script: (text) => database.exec(text),
    transaction(run) {
      const name = `level_${depth}`;
      database.exec(`SAVEPOINT ${name}`);
      depth++;
      try {
        const answer = run();
        database.exec(`RELEASE ${name}`);
        return answer;
      } catch (thrown) {
        database.exec(`ROLLBACK TO ${name}; RELEASE ${name}`);
        throw thrown;
      } finally {
        depth--;
      }
    },
  };
}
