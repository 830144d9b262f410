import type { WorkspaceCaller, WorkspaceSql } from "interlock-edge/tools";
import { TABLES } from "../rows/entity-row.ts";

/** How long a deleted row can be restored. */
const BIN_DAYS = 30;
/** What an approval says of a row after its deletion. */
export const IN_BIN = { bin: `restorable for ${BIN_DAYS} days` };
const DAY_MS = 86_400_000;
export const BIN_MS = BIN_DAYS * DAY_MS;

/** Rows that belong to a row of another table, and go with it. */
const PARTS = [
  ...["systems", "dependencies", "brainstorms", "plans", "threads", "messages", "exports"]
    .concat("activity")
    .map((table) => `${table} WHERE project_id NOT IN (SELECT id FROM projects)`),
  "dependencies WHERE source_id NOT IN (SELECT id FROM systems)",
  "dependencies WHERE target_id NOT IN (SELECT id FROM systems)",
  "places WHERE system_id NOT IN (SELECT id FROM systems)",
  "boards WHERE project_id NOT IN (SELECT id FROM projects)",
  "plan_phases WHERE plan_id NOT IN (SELECT id FROM plans)",
  "plan_systems WHERE plan_id NOT IN (SELECT id FROM plans)",
  "messages WHERE thread_id NOT IN (SELECT id FROM threads)",
  "read_marks WHERE thread_id NOT IN (SELECT id FROM threads)",
  "export_parts WHERE export_id NOT IN (SELECT id FROM exports)",
  `changelog WHERE ${Object.values(TABLES)
    .map(({ table }) => `entity_id NOT IN (SELECT id FROM ${table})`)
    .join(" AND ")}`,
];

/** Removes rows for good which are in the bin for more than 30 days. */
export function removeExpired(sql: WorkspaceSql, caller: WorkspaceCaller): number {
  return removeBinned(sql, "deleted_at <= ?", [caller.nowMs - BIN_MS]);
}

/**
 * Removes rows of the bin for good, with all that belongs to them. Answers how many rows of the bin
 * were removed. `where` says which; it is code.
 */
export function removeBinned(
  sql: WorkspaceSql,
  where: string,
  bindings: readonly (string | number)[],
): number {
  let removed = 0;
  for (const { table } of Object.values(TABLES)) {
    removed += sql.run(`DELETE FROM ${table} WHERE deleted_at NOT NULL AND ${where}`, ...bindings);
  }
  if (removed > 0) for (const part of PARTS) sql.run(`DELETE FROM ${part}`);
  return removed;
}
