import {
  ok,
  type Result,
  type ToolFailure,
  type WorkspaceCaller,
  type WorkspaceReads,
} from "interlock-edge/tools";
import type { EntityName } from "../entities/activity.ts";
import { refuse } from "../refuse.ts";
import type { EntityRow } from "./entity-row.ts";
import { findProject } from "./project-row.ts";

/**
 * Checks that the caller may delete a row: a project its author, a brainstorm who added it or the
 * author of its project, everything else every member. Fails: forbidden.
 */
export function checkAuthor(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { entity, row }: { readonly entity: EntityName; readonly row: EntityRow },
): Result<null, ToolFailure> {
  if (entity !== "project" && entity !== "brainstorm") return ok(null);
  if (row.createdBy === caller.authorId) return ok(null);
  if (entity === "project")
    return refuse("forbidden", "Only who created the project may delete it.");
  const project = findProject(sql, caller, row.projectId);
  return project.ok && project.value.createdBy === caller.authorId
    ? ok(null)
    : refuse("forbidden", "Only who added it or created the project may delete it.");
}
