import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { checkLink, refuseCycle } from "../dependency/add-dependency.ts";
import { entityName, type EntityName } from "../entities/activity.ts";
import { revision, rowId } from "../entities/fields.ts";
import { isSlugTaken, SLUG_TAKEN } from "../game-system/add-system.ts";
import { findPath } from "../graph/dependency-graph.ts";
import { readEdgesTo } from "../graph/read-graph.ts";
import { countRows } from "../list-page.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { checkThreadOpen } from "../rows/check-change.ts";
import { findEntity, nameOf, TABLES } from "../rows/entity-row.ts";
import { isVersionTaken, VERSION_TAKEN } from "../version-plan/add-plan.ts";
import { BIN_MS } from "./remove-rows.ts";

/** Takes a row out of the bin again, if nothing has taken its place. */
export const restore = defineOperation({
  name: "restore",
  kind: "write",
  input: v.strictObject({ entity: entityName, id: rowId, revision: v.exactOptional(revision) }),
  output: v.strictObject({ entity: entityName, id: rowId, projectId: rowId, revision }),
  run(sql, { entity, id, revision: expected }, caller) {
    const found = findEntity(sql, caller, { entity, id });
    if (!found.ok) return expected === undefined ? found : GONE;
    const row = found.value;
    if (expected !== undefined && expected !== row.revision) {
      return refuse("stale", `The ${nameOf(entity)} "${row.name}" changed since.`);
    }
    if (row.deletedAt === null || row.deletedAt <= caller.nowMs - BIN_MS) {
      return refuse("not_found", `The ${nameOf(entity)} "${row.name}" is not in the bin.`);
    }
    const free = CHECKS[entity]?.(sql, row) ?? ok(null);
    if (!free.ok) return free;
    sql.run(
      `UPDATE ${TABLES[entity].table} SET deleted_at = NULL, deleted_by = NULL, revision = ?
       WHERE id = ?`,
      row.revision + 1,
      id,
    );
    const { projectId } = row;
    const closed = entity === "system" ? checkAcyclic(sql, row) : ok(null);
    if (!closed.ok) return closed;
    const summary = `Restored ${nameOf(entity)} "${row.name}"`;
    recordChange(sql, caller, { projectId, action: "restored", entity, id, summary });
    return ok({ entity, id, projectId, revision: row.revision + 1 });
  },
});

/** Answers a call that names a revision. A deletion cannot be undone once its row is gone. */
const GONE = refuse("stale", "This is not there any more.");

interface BinnedRow {
  readonly id: string;
  readonly projectId: string;
}

type Check = (sql: WorkspaceReads, row: BinnedRow) => Result<null, ToolFailure>;

/** What must hold before a row can come back. */
const CHECKS: { readonly [Name in EntityName]?: Check } = {
  system(sql, { id, projectId }) {
    const row = sql.first(
      v.object({ slug: v.string() }),
      "SELECT slug FROM systems WHERE id = ?",
      id,
    );
    return isSlugTaken(sql, projectId, row?.slug ?? "") ? refuse("conflict", SLUG_TAKEN) : ok(null);
  },
  version_plan(sql, { id, projectId }) {
    const row = sql.first(
      v.object({ version: v.string() }),
      "SELECT version FROM plans WHERE id = ?",
      id,
    );
    return isVersionTaken(sql, projectId, row?.version ?? "")
      ? refuse("conflict", VERSION_TAKEN)
      : ok(null);
  },
  dependency: checkDependency,
  idea_message: (sql, { id }) => checkThreadOpen(sql, id),
};

function checkDependency(sql: WorkspaceReads, { id }: BinnedRow): Result<null, ToolFailure> {
  const row = sql.first(
    v.object({ source: v.string(), target: v.string() }),
    "SELECT source_id AS source, target_id AS target FROM dependencies WHERE id = ?",
    id,
  );
  if (!row) return refuse("not_found", "This is not there any more.");
  const { source, target } = row;
  const ends = { table: "systems", where: "deleted_at IS NULL AND id IN (?, ?)" };
  if (countRows(sql, { ...ends, bindings: [source, target] }) < 2) {
    return refuse("conflict", "One of the two systems is in the bin.");
  }
  return checkLink(sql, [source, target]);
}

/**
 * The dependencies of a restored system come back with it. Others may have been added meanwhile
 * that close a cycle with them.
 */
function checkAcyclic(sql: WorkspaceReads, { id }: BinnedRow): Result<null, ToolFailure> {
  const edges = readEdgesTo(sql, id);
  for (const { sourceSystemId, targetSystemId } of edges) {
    if (sourceSystemId !== id) continue;
    const cycle = findPath(edges, targetSystemId, id);
    if (cycle) return refuseCycle(sql, cycle);
  }
  return ok(null);
}

export const restoreTool = gameplanTool(restore, {
  description: "Takes something out of the bin.",
  service: "binService",
  done: ({ entity }) => `Restored ${nameOf(entity)}`,
  isHidden: true,
});
