import type { ChangelogEntry } from "./entities/game-system.ts";
import { addToChangelog } from "./changelog.ts";
import type { EntityName } from "./entities/activity.ts";
import { CHANGE_CHECKS } from "./rows/check-change.ts";
import type { EntityRow } from "./rows/entity-row.ts";
import { readFields, writeFields, type Fields } from "./rows/row-fields.ts";
import {
  ok,
  type Result,
  type ToolFailure,
  type WorkspaceCaller,
  type WorkspaceSql,
} from "interlock-edge/tools";

/**
 * Sets fields of a row and adds the earlier values to its changelog, so that they can be reverted.
 * Fields with the same value are no change. Fails: what `CHANGE_CHECKS` answers.
 */
export function changeFields(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  change: {
    readonly entity: EntityName;
    /** The row before the change. */
    readonly row: Pick<EntityRow, "id" | "projectId" | "createdBy" | "revision">;
    readonly next: Fields;
    readonly summary: string;
  },
): Result<ChangelogEntry, ToolFailure> {
  const { entity, row, summary } = change;
  const { id } = row;
  const now = readFields(sql, caller, { entity, id, names: Object.keys(change.next) });
  const changed = Object.entries(change.next).filter(([field, value]) => value !== now[field]);
  const next = Object.fromEntries(changed);
  const allowed = CHANGE_CHECKS[entity]?.(sql, caller, { row, next }) ?? ok(null);
  if (!allowed.ok) return allowed;
  const revision = row.revision + 1;
  writeFields(sql, caller, { entity, id, revision, fields: next });
  const before = Object.fromEntries(changed.map(([field]) => [field, now[field] ?? ""]));
  return ok(addToChangelog(sql, caller, { id, revision, summary, before }));
}
