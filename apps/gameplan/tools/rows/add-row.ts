import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";
import type { EntityName } from "../entities/activity.ts";
import { recordChange } from "../record-change.ts";
import { TABLES } from "./entity-row.ts";

/** A row that is added. */
interface NewRow {
  readonly entity: EntityName;
  /** Absent: the row is a project, and its own. */
  readonly projectId?: string;
  /** What the row has beside the columns of all rows. Threat: names are code. */
  readonly columns: Readonly<Record<string, string | number>>;
  /** What the activity says. Absent: nothing. */
  readonly summary?: string;
}

/** Adds a row of the caller, in its first revision, and answers its id. */
export function addRow(sql: WorkspaceSql, caller: WorkspaceCaller, row: NewRow): string {
  const id = caller.newId();
  const { entity, projectId = id, summary } = row;
  const columns = {
    id,
    project_id: projectId,
    revision: 1,
    created_at: caller.nowMs,
    created_by: caller.authorId,
    ...row.columns,
  };
  const names = Object.keys(columns);
  const values = names.map(() => "?");
  sql.run(
    `INSERT INTO ${TABLES[entity].table} (${names.join()}) VALUES (${values.join()})`,
    ...Object.values(columns),
  );
  if (summary !== undefined) {
    recordChange(sql, caller, { projectId, action: "created", entity, id, summary });
  }
  return id;
}
