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
import { isOwner } from "./member-rows.ts";

/**
 * Checks that the caller may delete a row: a project its owners, a brainstorm who added it or an
 * owner of its project, everything else everybody in the project. Fails: forbidden.
 */
export function checkAuthor(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { entity, row }: { readonly entity: EntityName; readonly row: EntityRow },
): Result<null, ToolFailure> {
  if (entity !== "project" && entity !== "brainstorm") return ok(null);
  if (isOwner(sql, row.projectId, caller.authorId)) return ok(null);
  if (entity === "project")
    return refuse("forbidden", "Only an owner of the project may delete it.");
  return row.createdBy === caller.authorId
    ? ok(null)
    : refuse("forbidden", "Only who added it or owns the project may delete it.");
}
