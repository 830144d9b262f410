import { UnreadableStorageError } from "../src/protocol/outcome/unreadable-storage.ts";

/**
 * Rewrites stored rows from one version to the next.
 * Contract: runs inside a transaction; keeps all data. One that was released never changes.
 */
export type Migration = (sql: SqlStorage) => void;

/**
 * Versions of the tables of a kind of object. `migrations[n]` leads from version `oldest + n` to
 * the next. A change of the tables, or of a JSON field in them, adds one. Until the package is
 * published such a change raises `oldest` instead, so nothing that was stored before is read.
 */
export interface Layout {
  /** The oldest version that this code can read. */
  readonly oldest: number;
  readonly migrations: readonly Migration[];
}

/** The version that this code reads and writes. */
export function versionOf({ oldest, migrations }: Layout): number {
  return oldest + migrations.length;
}

/**
 * Brings the storage of an object to the version that this code reads. Storage without a version is
 * 0. Answers false for storage without tables: an unused object gets no tables.
 * Contract: all migrations are one transaction. Called once per incarnation, before any other read.
 * Fails: throws UnreadableStorageError for a newer version, or one older than `oldest`, and the
 * error of a failed migration. In all cases it writes nothing.
 */
export function migrateStorage(storage: DurableObjectStorage, layout: Layout): boolean {
  const { sql } = storage;
  const names = ownNames(sql);
  if (names.length === 0) return false;
  const stored = names.includes("schema_version") ? readVersion(sql) : 0;
  const version = versionOf(layout);
  if (stored > version) throw refusal("storage_too_new", stored, layout);
  if (stored < layout.oldest) throw refusal("storage_too_old", stored, layout);
  if (stored < version) {
    storage.transactionSync(() => {
      for (const migrate of layout.migrations.slice(stored - layout.oldest)) migrate(sql);
      writeVersion(sql, version);
    });
  }
  return true;
}

function refusal(
  code: UnreadableStorageError["name"],
  stored: number,
  layout: Layout,
): UnreadableStorageError {
  const read = `this code reads version ${layout.oldest} and newer, up to ${versionOf(layout)}`;
  const advice =
    code === "storage_too_new"
      ? "Deploy the newer code again"
      : "Deploy the code that wrote it, or begin with empty storage";
  return new UnreadableStorageError(code, `the storage has version ${stored}; ${read}. ${advice}`);
}

/** Writes the version of an object's tables. Contract: in the transaction that creates them. */
export function writeVersion(sql: SqlStorage, version: number): void {
  sql.exec(`DROP VIEW IF EXISTS schema_version; ${versionView(version)}`);
}

/**
 * Statement that creates the version as a view: a table would be one more page of each object. The
 * platform refuses `PRAGMA user_version` (workerd 1.20261117, tried 2026-11-21).
 */
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
