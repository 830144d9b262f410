import * as v from "valibot";
import { defineOperation, ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { placedSystem } from "../entities/board.ts";
import { nameText, revision, rowId } from "../entities/fields.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { refuse } from "../refuse.ts";
import { GONE } from "../rows/entity-row.ts";
import { findProject } from "../rows/project-row.ts";
import { MOST_DRAWN } from "./get-board.ts";
import { placeSystems } from "./place-systems.ts";

/** Puts systems at places of the board, for everybody. Another person's later move wins. */
export const arrangeSystems = defineOperation({
  name: "arrange_systems",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    places: v.pipe(v.array(placedSystem), v.minLength(1), v.maxLength(MOST_DRAWN)),
  }),
  output: v.strictObject({ projectId: rowId, revision, summary: v.string() }),
  run(sql, { projectId, places }, caller) {
    const project = findProject(sql, caller, projectId);
    if (!project.ok) return project;
    const ids = [...new Set(places.map(({ systemId }) => systemId))];
    const live = sql.rows(
      v.object({ name: nameText }),
      `SELECT name FROM systems WHERE project_id = ? AND deleted_at IS NULL
         AND id IN (SELECT value FROM json_each(?))`,
      projectId,
      JSON.stringify(ids),
    );
    if (live.length < places.length) return refuse("not_found", GONE, "/places");
    const [first] = live;
    const summary =
      live.length === 1 && first
        ? `Moved "${first.name}" on the board`
        : `Arranged ${formatCount(live.length, "system")} on the board`;
    return ok({
      projectId,
      revision: placeSystems(sql, caller, { projectId, places, summary }),
      summary,
    });
  },
});

export const arrangeSystemsTool = gameplanTool(arrangeSystems, {
  description: "Puts systems at places of the board.",
  service: "boardService",
  mutationType: "update",
  done: ({ summary }) => summary,
  undo: {
    tool: "revert",
    args: ({ projectId: id, revision: changed }) => ({ entity: "board", id, revision: changed }),
  },
  maxArgumentsBytes: 65_536,
  isHidden: true,
});
