import type { Database } from "../../src/workspace/database.ts";

/** Uses the storage of a Durable Object as the database of a workspace. */
export function createDurableDatabase(storage: DurableObjectStorage): Database {
  const { sql } = storage;
  return {
    query: (text, bindings = []) => sql.exec(text, ...bindings).toArray(),
    script: (text) => void sql.exec(text),
    transaction: (run) => storage.transactionSync(run),
  };
}
