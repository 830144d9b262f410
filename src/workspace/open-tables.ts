import type { WorkspaceDefinition } from "../contracts/define-workspace.ts";
import { StorageTooNewError } from "../protocol/outcome/storage-too-new.ts";
import type { WorkspaceAddress } from "../protocol/workspace/address.ts";
import { CHANGES_TABLE } from "./change-list.ts";
import type { Database } from "./database.ts";
import { LEDGER_TABLE } from "./ledger.ts";

/** Version of the runtime's own tables. */
const LAYOUT = 1;

const OWN_TABLES = `
CREATE TABLE interlock_workspace (
  name TEXT NOT NULL, tenant_id TEXT NOT NULL, workspace_id TEXT NOT NULL,
  layout INTEGER NOT NULL, version INTEGER NOT NULL);
${LEDGER_TABLE};
${CHANGES_TABLE};
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
    database.query(
      `INSERT INTO interlock_workspace (name, tenant_id, workspace_id, layout, version)
       VALUES (?, ?, ?, ${LAYOUT}, 0)`,
      [name, tenantId, workspaceId],
    );
    migrateTables(database, definition);
  });
}

/**
 * Brings the tables of a workspace to the version of this code.
 * Contract: all migrations are one transaction.
 * Fails: throws StorageTooNewError for tables of newer code, and the error of a failed migration.
 * In both cases nothing is changed.
 */
export function migrateTables(database: Database, { migrations }: WorkspaceDefinition): void {
  const { layout = 0, version = 0 } = readOwnRow(database) ?? {};
  if (layout > LAYOUT || version > migrations.length) {
    const detail = `this code reads version ${migrations.length}. Deploy the newer code again`;
    throw new StorageTooNewError(`the workspace has version ${version}; ${detail}`);
  }
  if (version === migrations.length) return;
  database.transaction(() => {
    for (const migration of migrations.slice(version)) database.script(migration);
    database.query("UPDATE interlock_workspace SET version = ?", [migrations.length]);
  });
}

interface OwnRow {
  readonly name: string;
  readonly tenant_id: WorkspaceAddress["tenantId"];
  readonly workspace_id: string;
  readonly layout: number;
  readonly version: number;
}

function readOwnRow(database: Database): OwnRow | undefined {
  const exists = database.query(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'interlock_workspace'",
  );
  if (exists.length === 0) return undefined;
  const [row] = database.query("SELECT * FROM interlock_workspace");
  return row as unknown as OwnRow | undefined;
}
