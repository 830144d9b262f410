import { runInDurableObject } from "cloudflare:test";
import { writeVersion } from "../../durable-objects/storage-version.ts";

/** Everything that the storage of one object held. */
export interface StoredObject {
  /** Name of the object. */
  readonly name: string;
  readonly alarm: number | null;
  readonly ddl: readonly string[];
  readonly rows: Readonly<Record<string, readonly Record<string, SqlStorageValue>[]>>;
}

/** Fills the storage of an object; the next request starts its first incarnation over it. */
export async function plant(
  namespace: DurableObjectNamespace,
  stored: StoredObject,
): Promise<void> {
  const stub = namespace.get(namespace.idFromName(stored.name));
  await runInDurableObject(stub, async (_object, { storage }) => {
    await storage.deleteAll();
    for (const statement of stored.ddl) storage.sql.exec(statement);
    for (const [table, rows] of Object.entries(stored.rows)) {
      storage.sql.exec(`DELETE FROM ${table}`);
      for (const row of rows) insert(storage.sql, table, row);
    }
    if (stored.alarm !== null) await storage.setAlarm(stored.alarm);
    await storage.sync();
  });
  await restart(namespace, stored.name);
}

/** Ends the current incarnation of an object. */
export async function restart(namespace: DurableObjectNamespace, name: string): Promise<void> {
  const stub = namespace.get(namespace.idFromName(name));
  await runInDurableObject(stub, (_object, state) => state.abort("restart")).catch(() => {});
}

/** Writes a version into the storage of an object, and ends its incarnation. */
export async function setVersion(
  namespace: DurableObjectNamespace,
  name: string,
  version: number,
): Promise<void> {
  await runInDurableObject(namespace.get(namespace.idFromName(name)), (_object, { storage }) => {
    writeVersion(storage.sql, version);
    return storage.sync();
  });
  await restart(namespace, name);
}

/** Reads every row of every table of an object. */
export function tablesOf(namespace: DurableObjectNamespace, name: string): Promise<unknown> {
  return runInDurableObject(namespace.get(namespace.idFromName(name)), (_object, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .toArray()
      .filter(({ name: table }) => !table.startsWith("_cf_"))
      .map(({ name: table }) => [table, storage.sql.exec(`SELECT * FROM ${table}`).toArray()]),
  );
}

function insert(sql: SqlStorage, table: string, row: Record<string, SqlStorageValue>): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  const values = Object.values(row);
  sql.exec(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`, ...values);
}
