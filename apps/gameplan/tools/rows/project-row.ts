import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { project, type Project } from "../entities/project.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { IS_REACHABLE } from "./member-rows.ts";

/** In whose name rows are found. */
export type Reader = Pick<WorkspaceCaller, "tenantId" | "authorId">;

export const PROJECT_COLUMNS = `id, name, description, genre, platform, status, revision,
  created_at AS createdAt, created_by AS createdBy, updated_at AS updatedAt`;

export const projectRow = v.object({
  ...project.entries,
  createdAt: v.number(),
  updatedAt: v.number(),
});

export function toProject(row: v.InferOutput<typeof projectRow>): Project {
  return { ...row, createdAt: toIso(row.createdAt), updatedAt: toIso(row.updatedAt) };
}

/** Which projects a caller may see. Every other row is reached through its project. */
export const OWN_PROJECTS = `${IS_REACHABLE} AND deleted_at IS NULL`;

/** Finds a project that is not in the bin. Fails: not_found, also for another tenant's id. */
export function findProject(
  sql: WorkspaceReads,
  caller: Reader,
  projectId: string,
): Result<Project, ToolFailure> {
  const row = sql.first(
    projectRow,
    `SELECT ${PROJECT_COLUMNS} FROM projects WHERE id = ?3 AND ${OWN_PROJECTS}`,
    caller.tenantId,
    caller.authorId,
    projectId,
  );
  return row
    ? ok(toProject(row))
    : refuse("not_found", "This is not there any more.", "/projectId");
}
