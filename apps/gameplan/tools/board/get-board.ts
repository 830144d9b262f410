import * as v from "valibot";
import { defineOperation, ok, type WorkspaceReads } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { place } from "../entities/board.ts";
import { graphEdge, graphNode, type GraphNode } from "../entities/dependency.ts";
import { count, revision, rowId } from "../entities/fields.ts";
import { mvpCriticality } from "../entities/game-system.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { orderNodes, readNodesOf } from "../graph/read-graph.ts";
import { countRows } from "../list-page.ts";
import { findProject } from "../rows/project-row.ts";
import { readPlaces } from "./place-systems.ts";

/** Systems of one picture. */
export const MOST_DRAWN = 300;
/** Dependencies of one picture. With more lines nobody can follow one. */
const MOST_LINES = 1_200;

/** A dependency that people edit. */
const boardEdge = v.strictObject({ id: rowId, revision, ...graphEdge.entries });

/** Reads what one picture of the board shows, and no other rows. */
export const getBoard = defineOperation({
  name: "get_board",
  kind: "read",
  input: v.strictObject({
    projectId: rowId,
    mvpCriticality: v.exactOptional(mvpCriticality),
    planId: v.exactOptional(rowId),
    /** Of a large project: the systems nearest to this one. */
    near: v.exactOptional(rowId),
  }),
  output: v.strictObject({
    nodes: v.array(v.strictObject({ ...graphNode.entries, place: v.nullable(place) })),
    /** Dependencies between these systems. */
    edges: v.array(boardEdge),
    /** Systems that the filters let through. */
    nodeTotal: count,
    edgeTotal: count,
  }),
  run(sql, { projectId, near, ...filter }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const shown = whereOf(projectId, filter);
    const nodeTotal = countRows(sql, { table: "systems", ...shown });
    const drawn = selectIds(sql, shown, nodeTotal > MOST_DRAWN ? near : undefined);
    const nodes = readNodesOf(sql, projectId, drawn);
    const ids = JSON.stringify(drawn);
    const between = `deleted_at IS NULL AND source_id IN (SELECT value FROM json_each(?))
      AND target_id IN (SELECT value FROM json_each(?))`;
    const edges = sql.rows(
      boardEdge,
      `SELECT id, revision, source_id AS sourceSystemId, target_id AS targetSystemId, type
       FROM dependencies
       WHERE ${between} ORDER BY seq LIMIT ?`,
      ids,
      ids,
      MOST_LINES,
    );
    const places = readPlaces(
      sql,
      nodes.map(({ systemId }) => systemId),
    );
    const withPlace = (node: GraphNode) => ({ ...node, place: places.get(node.systemId) ?? null });
    return ok({
      nodes: orderNodes(nodes, edges).map(withPlace),
      edges,
      nodeTotal,
      edgeTotal: countRows(sql, { table: "dependencies", where: between, bindings: [ids, ids] }),
    });
  },
});

interface Shown {
  readonly where: string;
  readonly bindings: readonly string[];
}

function whereOf(
  projectId: string,
  filter: { readonly mvpCriticality?: string; readonly planId?: string },
): Shown {
  const parts = ["project_id = ? AND deleted_at IS NULL"];
  const bindings = [projectId];
  if (filter.mvpCriticality !== undefined) {
    parts.push("mvp_criticality = ?");
    bindings.push(filter.mvpCriticality);
  }
  if (filter.planId !== undefined) {
    parts.push("id IN (SELECT system_id FROM plan_systems WHERE plan_id = ?)");
    bindings.push(filter.planId);
  }
  return { where: parts.join(" AND "), bindings };
}

const idRow = v.object({ id: v.string() });

/**
 * Selects the systems of the picture: those nearest to one, over dependencies in both directions,
 * then the oldest ones. The next ring is read only while there is room.
 */
function selectIds(sql: WorkspaceReads, shown: Shown, near: string | undefined): string[] {
  const select = (more: string, ...bindings: readonly (string | number)[]): string[] =>
    sql
      .rows(
        idRow,
        `SELECT id FROM systems WHERE ${shown.where} AND ${more} ORDER BY seq LIMIT ?`,
        ...shown.bindings,
        ...bindings,
        MOST_DRAWN,
      )
      .map(({ id }) => id);
  const ids = new Set<string>();
  let ring = near === undefined ? [] : select("id = ?", near);
  while (ring.length > 0 && ids.size < MOST_DRAWN) {
    for (const id of ring) ids.add(id);
    const from = JSON.stringify(ring);
    ring = select(NEIGHBOURS, from, from).filter((id) => !ids.has(id));
  }
  if (ids.size < MOST_DRAWN) for (const id of select("TRUE")) ids.add(id);
  return [...ids].slice(0, MOST_DRAWN);
}

const NEIGHBOURS = `id IN (
  SELECT target_id FROM dependencies
  WHERE deleted_at IS NULL AND source_id IN (SELECT value FROM json_each(?))
  UNION SELECT source_id FROM dependencies
  WHERE deleted_at IS NULL AND target_id IN (SELECT value FROM json_each(?)))`;

export const getBoardTool = gameplanTool(getBoard, {
  description: "Reads what one picture of the board shows.",
  service: "boardService",
  done: ({ nodeTotal }) => `Read the board with ${formatCount(nodeTotal, "system")}`,
  isHidden: true,
});
