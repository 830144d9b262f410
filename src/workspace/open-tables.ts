import type { WorkspaceDefinition } from "../contracts/define/define-workspace.ts";
import { UnreadableStorageError } from "../protocol/outcome/unreadable-storage.ts";
import type { WorkspaceAddress } from "../protocol/workspace/address.ts";
import { CHANGES_TABLE } from "./change-list.ts";
import type { Database } from "./database.ts";
import { LEDGER_TABLE } from "./ledger.ts";
import { MARKS_TABLE } from "./marks.ts";

/**
 * Version of the runtime's own tables. Until the package is published, a change of them raises it,
 * and nothing that was stored before is read.
 */
const LAYOUT = 4;

const OWN_TABLES = `
CREATE TABLE interlock_workspace (
  name TEXT NOT NULL, tenant_id TEXT NOT NULL, workspace_id TEXT NOT NULL, layout INTEGER NOT NULL);
CREATE TABLE interlock_migrations (number INTEGER PRIMARY KEY, sql TEXT NOT NULL);
${LEDGER_TABLE};
${CHANGES_TABLE};
${MARKS_TABLE};
`;

/** Reads whose tables a database holds; undefined for an unused one. */
export function readAddress(database: Database): WorkspaceAddress | undefined {
  const known = readOwnRow(database);
  return known && { name: known.name, tenantId: known.tenant_id, workspaceId: known.workspace_id };
}

/** Creates the tables of a workspace. Contract: one transaction; a failed one leaves nothing. */
export function createTables(
  database: Database,
  definition: WorkspaceDefinition,
  { name, tenantId, workspaceId }: WorkspaceAddress,
): void {
  database.transaction(() => {
    database.script(OWN_TABLES);
    database.query("INSERT INTO interlock_workspace VALUES (?, ?, ?, ?)", [
      name,
      tenantId,
      workspaceId,
      LAYOUT,
    ]);
    migrateTables(database, definition);
  });
}

/**
 * Brings the tables of a workspace to the version of this code.
 * Contract: all migrations are one transaction.
 * Fails: throws UnreadableStorageError for tables of newer code or an older layout, an Error that
 * names a migration whose text is not the one that ran, and the number of a migration that fails.
 * Nothing is changed then.
 */
export function migrateTables(
  database: Database,
  { name, migrations }: Pick<WorkspaceDefinition, "name" | "migrations">,
): void {
  const { layout = LAYOUT } = readOwnRow(database) ?? {};
  if (layout !== LAYOUT) {
    const message = `the workspace has layout ${layout}; this code reads layout ${LAYOUT}`;
    throw new UnreadableStorageError(
      layout > LAYOUT ? "storage_too_new" : "storage_too_old",
      message,
    );
  }
  const ran = database
    .query("SELECT sql FROM interlock_migrations ORDER BY number")
    .map(({ sql }) => sql as string);
  if (ran.length > migrations.length) {
    const detail = `this code reads version ${migrations.length}. Deploy the newer code again`;
    const message = `the workspace has version ${ran.length}; ${detail}`;
    throw new UnreadableStorageError("storage_too_new", message);
  }
  const changed = ran.findIndex((sql, index) => sql !== spaced(migrations[index]));
  if (changed !== -1) {
    throw new Error(
      `migration ${changed + 1} of ${name} is not the one that this workspace ran. ` +
        "Restore its text, and add the change as a new entry at the end",
    );
  }
  if (ran.length === migrations.length) return;
  database.transaction(() => {
    for (const [index, migration] of migrations.entries()) {
      if (index >= ran.length) runMigration(database, `${index + 1} of ${name}`, migration);
    }
  });
}

function runMigration(database: Database, which: string, migration: string): void {
  try {
    database.script(migration);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`migration ${which} failed: ${reason}`, { cause });
  }
  database.query("INSERT INTO interlock_migrations (sql) VALUES (?)", [spaced(migration)]);
}

/** The text with which a migration is compared: a formatter may change its spaces. */
function spaced(migration = ""): string {
  return migration.trim().replaceAll(/\s+/g, " ");
}

interface OwnRow {
  readonly name: string;
  readonly tenant_id: WorkspaceAddress["tenantId"];
  readonly workspace_id: string;
  readonly layout: number;
}

function readOwnRow(database: Database): OwnRow | undefined {
  const exists = database.query(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'interlock_workspace'",
  );
  if (exists.length === 0) return undefined;
  const [row] = database.query("SELECT * FROM interlock_workspace");
  return row as unknown as OwnRow | undefined;
}
