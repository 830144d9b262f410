import { StorageTooNewError } from "../src/protocol/outcome/storage-too-new.ts";

/**
 * Rewrites stored rows from one version to the next.
 * Contract: runs inside a transaction; keeps all data.
 */
export type Migration = (sql: SqlStorage) => void;

/**
 * Brings the storage of an object to the version that this code reads. `migrations[n]` leads from
 * version n to n + 1, so their number is the version of this code. Storage without a version is 0.
 * Answers false for storage without tables: an unused object gets no tables.
 * Contract: all migrations are one transaction. Called once per incarnation, before any other read.
 * Fails: throws StorageTooNewError for a newer version, and the error of a failed migration. In
 * both cases it writes nothing.
 */
export function migrateStorage(
  storage: DurableObjectStorage,
  migrations: readonly Migration[],
): boolean {
  const { sql } = storage;
  const names = ownNames(sql);
  if (names.length === 0) return false;
  const stored = names.includes("schema_version") ? readVersion(sql) : 0;
  const version = migrations.length;
  if (stored > version) {
    const detail = `this code reads version ${version}. Deploy the newer code again`;
    throw new StorageTooNewError(`the storage has version ${stored}; ${detail}`);
  }
  if (stored < version) {
    storage.transactionSync(() => {
      for (const migrate of migrations.slice(stored)) migrate(sql);
      writeVersion(sql, version);
    });
  }
  return true;
}

/**
 * Writes the version of an object's tables. The platform refuses `PRAGMA user_version` (workerd
 * 1.20261117, tried 2026-11-21). Contract: call it in the transaction that creates the tables.
 */
export function writeVersion(sql: SqlStorage, version: number): void {
  const view = sql.exec(
    "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = 'schema_version'",
  );
  if (view.toArray().length > 0) {
    sql.exec(`DROP VIEW schema_version; ${versionView(version)}`);
    return;
  }
  sql.exec(
    `CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);
     DELETE FROM schema_version;
     INSERT INTO schema_version (version) VALUES (?);`,
    version,
  );
}

/** Statement that creates the version as a view: a table would be one more page of each object. */
export function versionView(version: number): string {
  return `CREATE VIEW schema_version AS SELECT ${version} AS version;`;
}

function readVersion(sql: SqlStorage): number {
  return sql.exec<{ version: number }>("SELECT version FROM schema_version").one().version;
}

/** Beginnings of the names that belong to the platform, its local server and SQLite. */
const FOREIGN_NAMES = ["_cf_", "__miniflare_", "sqlite_"];

/**
 * Names of the object's own tables and views.
 * Threat: an object that ended before its first write counts as used, because the local server had
 * stored the object's name in it; then nothing can ever start there.
 */
function ownNames(sql: SqlStorage): readonly string[] {
  return sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    .toArray()
    .map(({ name }) => name)
    .filter((name) => !FOREIGN_NAMES.some((beginning) => name.startsWith(beginning)));
}
