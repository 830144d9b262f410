import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { changeFields, readEarlierFields } from "../change-fields.ts";
import { revision, rowId } from "../entities/fields.ts";
import { isSlugTaken, SLUG_TAKEN } from "../game-system/add-system.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findLive, nameOf } from "../rows/entity-row.ts";
import { findProject } from "../rows/project-row.ts";
import { columnOf, findSystem } from "../rows/system-row.ts";

const revertible = v.picklist(["project", "system"]);

/** Takes back the newest update of a project or a system. */
export const revert = defineOperation({
  name: "revert",
  kind: "write",
  input: v.strictObject({ entity: revertible, id: rowId, revision }),
  output: v.strictObject({ entity: revertible, id: rowId, revision }),
  run(sql, { entity, id, revision: expected }, caller) {
    const found = findLive(sql, caller, { entity, id, revision: expected });
    if (!found.ok) return found;
    const before = readEarlierFields(sql, id, expected);
    if (!before || Object.keys(before).length === 0) {
      return refuse("conflict", "This revision was not made by an edit.");
    }
    const { projectId, name } = found.value;
    const slug = before["systemSlug"];
    if (slug !== undefined && isSlugTaken(sql, projectId, slug)) {
      return refuse("conflict", SLUG_TAKEN);
    }
    const row =
      entity === "project" ? findProject(sql, caller, id) : findSystem(sql, caller, { id });
    if (!row.ok) return row;
    const values: Readonly<Record<string, unknown>> = row.value;
    const now = Object.keys(before).map((field) => [field, String(values[field])] as const);
    changeFields(sql, caller, {
      table: entity === "project" ? "projects" : "systems",
      id,
      revision: expected,
      columnOf,
      now: Object.fromEntries(now),
      next: before,
      summary: "Reverted the change before",
    });
    recordChange(sql, caller, {
      projectId,
      action: "updated",
      entity,
      id,
      summary: `Reverted the newest change of ${nameOf(entity)} "${name}"`,
    });
    return ok({ entity, id, revision: expected + 1 });
  },
});

export const revertTool = gameplanTool(revert, {
  description: "Takes back the newest change of a project or a game system.",
  service: "binService",
  mutationType: "update",
  done: ({ entity }) => `Reverted the newest change of a ${nameOf(entity)}`,
  isHidden: true,
});
