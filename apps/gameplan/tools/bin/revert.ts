import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { placeSystems, readBoard } from "../board/place-systems.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { changeFields } from "../change-fields.ts";
import { readEarlierFields } from "../changelog.ts";
import { EDITED } from "../entities/activity.ts";
import { revision, rowId } from "../entities/fields.ts";
import { defineOperation, type WorkspaceCaller, type WorkspaceSql } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findLive, nameOf } from "../rows/entity-row.ts";
import { findProject } from "../rows/project-row.ts";

const revertible = v.picklist(["project", "system", ...EDITED, "board"]);

/** Takes back the newest update of a row or a board. */
export const revert = defineOperation({
  name: "revert",
  kind: "write",
  input: v.strictObject({ entity: revertible, id: rowId, revision }),
  output: v.strictObject({ entity: revertible, id: rowId, revision }),
  run(sql, { entity, id, revision: expected }, caller) {
    if (entity === "board") return revertBoard(sql, caller, { id, revision: expected });
    const found = findLive(sql, caller, { entity, id, revision: expected });
    if (!found.ok) return found;
    const before = readEarlierFields(sql, id, expected);
    if (!before || expected === 1) {
      return refuse("conflict", "This revision was not made by an edit.");
    }
    const summary = "Reverted the change before";
    const changed = changeFields(sql, caller, { entity, row: found.value, next: before, summary });
    if (!changed.ok) return changed;
    const { projectId, name } = found.value;
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

/** The places before the newest move come back. */
function revertBoard(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  { id: projectId, revision: expected }: { readonly id: string; readonly revision: number },
) {
  const found = findProject(sql, caller, projectId);
  if (!found.ok) return found;
  const board = readBoard(sql, projectId);
  if (board?.revision !== expected) {
    return refuse("stale", "Somebody has arranged the board since.");
  }
  const summary = "Reverted the newest move on the board";
  const changed = placeSystems(sql, caller, { projectId, places: board.before, summary });
  return ok({ entity: "board" as const, id: projectId, revision: changed });
}

export const revertTool = gameplanTool(revert, {
  description: "Takes back the newest change of a row or a board.",
  service: "binService",
  mutationType: "update",
  done: ({ entity }) =>
    `Reverted the newest change of a ${entity === "board" ? entity : nameOf(entity)}`,
  isHidden: true,
});
