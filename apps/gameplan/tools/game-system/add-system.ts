import type { Result, ToolFailure } from "interlock-edge/tools";
import { addToChangelog } from "../changelog.ts";
import type { GameSystem } from "../entities/game-system.ts";
import type { NewSystem } from "../entities/system-texts.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { countRows } from "../list-page.ts";
import { findProject } from "../rows/project-row.ts";
import { columnOf } from "../rows/row-fields.ts";
import { findSystem, SYSTEM_FIELDS } from "../rows/system-row.ts";

const AS_NEW: Readonly<Record<string, string>> = { mvpCriticality: "important", status: "draft" };

export const SLUG_TAKEN = "Another system has this short name.";

interface NewEntry {
  readonly projectId: string;
  readonly system: NewSystem;
  /** What the activity says was done. */
  readonly verb: string;
  /** Adds what belongs to the new system. The activity tells of the system last, as of it all. */
  readonly addParts?: (systemId: string) => Result<unknown, ToolFailure>;
}

/**
 * Adds a system to a project, with its first changelog entry. Fails: not_found, conflict when
 * another system has the slug.
 */
export function addSystem(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  { projectId, system, verb, addParts }: NewEntry,
): Result<GameSystem, ToolFailure> {
  const found = findProject(sql, caller, projectId);
  if (!found.ok) return found;
  if (isSlugTaken(sql, projectId, system.systemSlug)) {
    return refuse("conflict", SLUG_TAKEN, "/systemSlug");
  }
  const summary = `${verb} game system "${system.name}" (${system.systemSlug})`;
  const fields = SYSTEM_FIELDS.map(
    (field) => [columnOf(field), system[field] ?? AS_NEW[field] ?? ""] as const,
  );
  const columns = { ...Object.fromEntries(fields), updated_at: caller.nowMs };
  const id = addRow(sql, caller, { entity: "system", projectId, columns });
  const added = addParts?.(id);
  if (added?.ok === false) return added;
  addToChangelog(sql, caller, { id, revision: 1, summary, before: {} });
  recordChange(sql, caller, { projectId, action: "created", entity: "system", id, summary });
  return findSystem(sql, caller, { id });
}

/** Tells whether a system that is not in the bin has the slug. */
export function isSlugTaken(sql: WorkspaceReads, projectId: string, slug: string): boolean {
  return (
    countRows(sql, {
      table: "systems",
      where: "project_id = ? AND slug = ? AND deleted_at IS NULL",
      bindings: [projectId, slug],
    }) > 0
  );
}
