import {
  ok,
  type Result,
  type ToolFailure,
  type WorkspaceCaller,
  type WorkspaceReads,
} from "interlock-edge/tools";
import type { EntityName } from "../entities/activity.ts";
import { isSlugTaken, SLUG_TAKEN } from "../game-system/add-system.ts";
import { countRows } from "../list-page.ts";
import { refuse } from "../refuse.ts";
import { isVersionTaken, VERSION_TAKEN } from "../version-plan/add-plan.ts";
import { checkDraft } from "../version-plan/delete-version-plan.ts";
import type { EntityRow } from "./entity-row.ts";
import { isOwner } from "./member-rows.ts";
import type { Fields } from "./row-fields.ts";

/** A row that changes. `next` holds the fields that get another value. */
interface RowChange {
  readonly row: Pick<EntityRow, "id" | "projectId" | "createdBy">;
  readonly next: Fields;
}

type Check = (
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  change: RowChange,
) => Result<null, ToolFailure>;

/** What must hold before a row changes, also when a change is taken back. */
export const CHANGE_CHECKS: { readonly [Name in EntityName]?: Check } = {
  project: (sql, caller, { row: { id: projectId }, next: { members } }) =>
    members === undefined || isOwner(sql, projectId, caller.authorId)
      ? ok(null)
      : refuse("forbidden", "Only an owner of the project may say who is in it."),
  system: (sql, _caller, { row: { projectId }, next: { systemSlug: slug } }) =>
    slug !== undefined && isSlugTaken(sql, projectId, slug)
      ? refuse("conflict", SLUG_TAKEN, "/systemSlug")
      : ok(null),
  version_plan(sql, _caller, { row: { id, projectId }, next: { version } }) {
    const draft = checkDraft(sql, id);
    return draft.ok && version !== undefined && isVersionTaken(sql, projectId, version)
      ? refuse("conflict", VERSION_TAKEN, "/version")
      : draft;
  },
  idea_thread: (sql, _caller, { row: { id }, next: { status } }) =>
    status !== undefined && hasThread(sql, "id = ? AND brainstorm_id NOT NULL", id)
      ? refuse("conflict", "This thread became a brainstorm. Start another one.", "/status")
      : ok(null),
  idea_message: (sql, caller, { row: { id, createdBy } }) =>
    createdBy === caller.authorId
      ? checkThreadOpen(sql, id)
      : refuse("forbidden", "Only who wrote the message may change it."),
};

/** Refuses a message whose thread is closed, or in the bin. */
export function checkThreadOpen(sql: WorkspaceReads, id: string): Result<null, ToolFailure> {
  const where = `deleted_at IS NULL AND status = 'open'
    AND id = (SELECT thread_id FROM messages WHERE id = ?)`;
  return hasThread(sql, where, id) ? ok(null) : refuse("conflict", "This thread is closed.");
}

function hasThread(sql: WorkspaceReads, where: string, id: string): boolean {
  return countRows(sql, { table: "threads", where, bindings: [id] }) > 0;
}
