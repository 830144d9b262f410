import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import type { EntityName } from "../entities/activity.ts";
import type { WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { IS_REACHABLE } from "./member-rows.ts";
import { OWN_PROJECTS, type Reader } from "./project-row.ts";

/** The table of each kind of row, and the SQL that names a row for people. */
export const TABLES: {
  readonly [Name in EntityName]: { readonly table: string; readonly title: string };
} = {
  project: { table: "projects", title: "name" },
  system: { table: "systems", title: "name" },
  dependency: {
    table: "dependencies",
    title: `(SELECT name FROM systems WHERE id = source_id) || ' ' ||
      replace(type, 'optional', 'can use') || ' ' ||
      (SELECT name FROM systems WHERE id = target_id)`,
  },
  brainstorm: { table: "brainstorms", title: "title" },
  version_plan: { table: "plans", title: "version" },
  idea_thread: { table: "threads", title: "title" },
  idea_message: { table: "messages", title: "substr(text, 1, 80)" },
  export: { table: "exports", title: "title" },
};

const entityRow = v.object({
  id: v.string(),
  projectId: v.string(),
  name: v.string(),
  revision: v.number(),
  createdBy: v.string(),
  deletedAt: v.nullable(v.number()),
  deletedBy: v.nullable(v.string()),
});

/** What all rows have in common that can be deleted. */
export type EntityRow = v.InferOutput<typeof entityRow>;

export interface EntityReference {
  readonly entity: EntityName;
  readonly id: string;
}

/** SQL: the caller may see a row; bindings as of `IS_REACHABLE`. */
export function isOwn(entity: EntityName): string {
  return entity === "project"
    ? IS_REACHABLE
    : `project_id IN (SELECT id FROM projects WHERE ${OWN_PROJECTS})`;
}

/**
 * Finds a row of the caller's workspace, in the bin or not. Its project is not in the bin, unless
 * the row is a project itself. Fails: not_found.
 */
export function findEntity(
  sql: WorkspaceReads,
  caller: Reader,
  { entity, id }: EntityReference,
): Result<EntityRow, ToolFailure> {
  const { table, title } = TABLES[entity];
  const row = sql.first(
    entityRow,
    `SELECT id, project_id AS projectId, ${title} AS name, revision, created_by AS createdBy,
       deleted_at AS deletedAt, deleted_by AS deletedBy
     FROM ${table} WHERE id = ?3 AND ${isOwn(entity)}`,
    caller.tenantId,
    caller.authorId,
    id,
  );
  return row ? ok(row) : refuse("not_found", GONE);
}

/** Finds a row that is not in the bin. Fails: not_found; stale when it has another revision. */
export function findLive(
  sql: WorkspaceReads,
  caller: Reader,
  reference: EntityReference & { readonly revision?: number },
): Result<EntityRow, ToolFailure> {
  const found = findEntity(sql, caller, reference);
  if (!found.ok) return found;
  const { entity, revision } = reference;
  if (found.value.deletedAt !== null) {
    return refuse("not_found", `The ${nameOf(entity)} "${found.value.name}" is in the bin.`);
  }
  if (revision === undefined || revision === found.value.revision) return found;
  const what = `The ${nameOf(entity)} "${found.value.name}"`;
  return refuse("stale", `${what} changed since it was read. Read it again.`);
}

/** Names a kind of row in a sentence. */
export function nameOf(entity: EntityName): string {
  return entity === "system" ? "game system" : entity.replaceAll("_", " ");
}

export const GONE = "This is not there any more.";

/** Answers a row that \`findLive\` found a moment ago. */
export function toFound<Row, Found>(
  row: Row | undefined,
  show: (row: Row) => Found,
): Result<Found, ToolFailure> {
  return row ? ok(show(row)) : refuse("not_found", GONE);
}
