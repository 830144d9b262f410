import * as v from "valibot";
import { jsonText } from "../rows/json-text.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";
import { place, placedSystem, type PlacedSystem } from "../entities/board.ts";
import { recordChange } from "../record-change.ts";

const placeRow = v.object({ systemId: v.string(), ...place.entries });

/** Reads where people put systems. Those without an entry stand where the page puts them. */
export function readPlaces(sql: WorkspaceReads, ids: readonly string[]) {
  return new Map(
    sql
      .rows(
        placeRow,
        `SELECT system_id AS systemId, x, y FROM places
         WHERE system_id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      )
      .map(({ systemId, ...found }) => [systemId, found] as const),
  );
}

const boardRow = v.object({
  revision: v.number(),
  before: jsonText(v.array(placedSystem)),
});

/** Reads the newest change of a board; undefined: nobody has arranged it. */
export function readBoard(sql: WorkspaceReads, projectId: string) {
  return sql.first(boardRow, "SELECT revision, before FROM boards WHERE project_id = ?", projectId);
}

/**
 * Puts systems of a project at their places, and keeps the places before, so that the newest change
 * can be reverted. A system that is not in the project is left out. Answers the board's revision.
 */
export function placeSystems(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  change: {
    readonly projectId: string;
    readonly places: readonly PlacedSystem[];
    readonly summary: string;
  },
): number {
  const { projectId, places, summary } = change;
  const known = readPlaces(
    sql,
    places.map(({ systemId }) => systemId),
  );
  const before = places.map(({ systemId }) => ({ systemId, place: known.get(systemId) ?? null }));
  for (const { systemId, place: next } of places) {
    sql.run("DELETE FROM places WHERE system_id = ? AND project_id = ?", systemId, projectId);
    if (!next) continue;
    sql.run(
      `INSERT INTO places SELECT id, project_id, ?, ? FROM systems WHERE id = ? AND project_id = ?`,
      next.x,
      next.y,
      systemId,
      projectId,
    );
  }
  const revision = (readBoard(sql, projectId)?.revision ?? 0) + 1;
  sql.run(
    "INSERT OR REPLACE INTO boards VALUES (?, ?, ?)",
    projectId,
    revision,
    JSON.stringify(before),
  );
  forgetEarlierLine(sql, caller, projectId);
  const row = { entity: "board", id: projectId } as const;
  recordChange(sql, caller, { projectId, action: "updated", ...row, summary });
  return revision;
}

/** Who arranges a board moves many systems in a row. The feed shows the last of these moves. */
function forgetEarlierLine(
  sql: WorkspaceSql,
  { authorId }: WorkspaceCaller,
  projectId: string,
): void {
  sql.run(
    `DELETE FROM activity WHERE entity = 'board' AND actor = ?
       AND seq = (SELECT max(seq) FROM activity WHERE project_id = ?)`,
    authorId,
    projectId,
  );
}
