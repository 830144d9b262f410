import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import type { BinItem } from "../entities/bin-item.ts";
import type { EntityName } from "../entities/activity.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { findLive, nameOf, TABLES, type EntityRow } from "../rows/entity-row.ts";
import { BIN_MS, removeExpired } from "./remove-rows.ts";

/**
 * Moves a row into the bin. `check` may refuse. Rows that are in the bin for too long are removed
 * on the way. Fails: not_found, stale, and what `check` answers.
 */
export function putIntoBin(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  deletion: {
    readonly entity: EntityName;
    readonly id: string;
    readonly revision?: number;
    readonly check?: (row: EntityRow) => Result<null, ToolFailure>;
  },
): Result<BinItem, ToolFailure> {
  const { entity, id, check } = deletion;
  const found = findLive(sql, caller, deletion);
  if (!found.ok) return found;
  const allowed = check?.(found.value);
  if (allowed?.ok === false) return allowed;
  const row = found.value;
  const deleted = {
    ...row,
    revision: row.revision + 1,
    deletedAt: caller.nowMs,
    deletedBy: caller.authorId,
  };
  sql.run(
    `UPDATE ${TABLES[entity].table} SET deleted_at = ?, deleted_by = ?, revision = ? WHERE id = ?`,
    deleted.deletedAt,
    deleted.deletedBy,
    deleted.revision,
    id,
  );
  recordChange(sql, caller, {
    projectId: row.projectId,
    action: "deleted",
    entity,
    id,
    summary: `Deleted ${nameOf(entity)} "${row.name}"`,
  });
  removeExpired(sql, caller);
  return ok(toBinItem(entity, deleted));
}

/** A row as the bin shows it. */
export function toBinItem(
  entity: EntityName,
  row: EntityRow & { readonly deletedAt: number; readonly deletedBy: string },
): BinItem {
  return {
    entity,
    id: row.id,
    projectId: row.projectId,
    name: row.name,
    deletedAt: toIso(row.deletedAt),
    deletedBy: row.deletedBy,
    restorableUntil: toIso(row.deletedAt + BIN_MS),
    revision: row.revision,
  };
}
