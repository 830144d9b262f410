import type { WorkspaceDefinition } from "../../src/contracts/define/define-workspace.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import { openSqliteDatabase } from "../../src/testing/memory/sqlite-database.ts";
import { createTables } from "../../src/workspace/open-tables.ts";
import { messageOf } from "../command.ts";
import type { Finding } from "./finding.ts";

/**
 * Runs the migrations of each workspace on an empty database in memory, and tells the first one
 * that fails. Contract: needs `node:sqlite`; without it, the migrations are unseen.
 */
export function checkMigrations(definitions: readonly WorkspaceDefinition[]): readonly Finding[] {
  return definitions.flatMap((definition): readonly Finding[] => {
    const { name } = definition;
    const place = `workspace ${name}`;
    if (!("getBuiltinModule" in process) || !process.getBuiltinModule("node:sqlite")) {
      const message = `migrations run here from Node 22.13 on; this is ${process.version}`;
      return [{ level: "unseen", place, message }];
    }
    const address = { name, tenantId: "check" as TenantId, workspaceId: "check" };
    try {
      createTables(openSqliteDatabase(), definition, address);
      return [];
    } catch (error) {
      return [{ level: "error", place, message: messageOf(error) }];
    }
  });
}
