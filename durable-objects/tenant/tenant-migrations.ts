import { hasTable } from "../has-table.ts";
import type { Migration } from "../storage-version.ts";

/**
 * Migrations of a tenant's tables, oldest first; their number is the version of this code.
 * Contract: a migration that was released never changes.
 */
export const TENANT_MIGRATIONS: readonly Migration[] = [addVersion, mergeHeard];

/** Version 1 has the tables of version 0 and a version number. */
function addVersion(): void {}

/**
 * Version 2 has the number of the last notice of a run beside its report, instead of a table with
 * an index: two pages less for each report. Its audit log may hold compressed entries.
 */
function mergeHeard(sql: SqlStorage): void {
  if (!hasTable(sql, "runs")) return;
  sql.exec(
    `ALTER TABLE runs ADD COLUMN last_seq INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE runs ADD COLUMN heard_ms INTEGER NOT NULL DEFAULT 0;`,
  );
  if (!hasTable(sql, "heard")) return;
  sql.exec(
    `UPDATE runs SET (last_seq, heard_ms) = (heard.last_seq, heard.heard_ms)
       FROM heard WHERE heard.run_id = runs.run_id;
     INSERT INTO runs (run_id, created_ms, ended_ms, actor, person, status, summary, last_seq,
         heard_ms)
       SELECT run_id, heard_ms, heard_ms, '', '', 'forgotten', '{}', last_seq, heard_ms
       FROM heard WHERE run_id NOT IN (SELECT run_id FROM runs);
     DROP TABLE heard;`,
  );
}
