import * as v from "valibot";
import { graphEdge, graphNode, type GraphNode } from "../entities/dependency.ts";
import { HAS_BOTH_SYSTEMS } from "../project/count-contents.ts";
import type { WorkspaceReads } from "interlock-edge/tools";
import { levelsOf, type Edge } from "./dependency-graph.ts";

const { position: _position, level: _level, ...node } = graphNode.entries;
/** A system without its place in the graph, as a row. */
const nodeRow = v.object(node);
const edgeRow = v.object(graphEdge.entries);

/** A system without its place in the graph. */
export type PlacelessNode = v.InferOutput<typeof nodeRow>;

/** Reads the dependencies of a project whose systems are both there. */
export function readEdges(sql: WorkspaceReads, projectId: string): readonly Edge[] {
  return selectEdges(sql, "project_id = ?", projectId);
}

/** Reads the dependencies over which a change of a system reaches others, and no other ones. */
export function readEdgesTo(sql: WorkspaceReads, systemId: string): readonly Edge[] {
  return selectEdges(sql, around("target", "source"), JSON.stringify([systemId]));
}

/** Reads the dependencies of some systems, and of all that these require. */
export function readEdgesOf(sql: WorkspaceReads, systemIds: readonly string[]): readonly Edge[] {
  const where = around("source", "target", " AND type = 'requires'");
  return selectEdges(sql, where, JSON.stringify(systemIds));
}

/** SQL: one end is a system of a list, or is reached from the list over the other ends. */
function around(end: string, next: string, only = ""): string {
  return `${end}_id IN (
    WITH RECURSIVE ids(id) AS (SELECT value FROM json_each(?) UNION SELECT ${next}_id
      FROM dependencies JOIN ids ON ${end}_id = ids.id AND deleted_at IS NULL${only})
    SELECT id FROM ids)`;
}

function selectEdges(sql: WorkspaceReads, where: string, id: string): readonly Edge[] {
  return sql.rows(
    edgeRow,
    `SELECT source_id AS sourceSystemId, target_id AS targetSystemId, type FROM dependencies t
     WHERE ${where} AND deleted_at IS NULL ${HAS_BOTH_SYSTEMS} ORDER BY seq`,
    id,
  );
}

/** Reads the systems of a project, by slug. */
export function readNodes(sql: WorkspaceReads, projectId: string): readonly PlacelessNode[] {
  return selectNodes(sql, "project_id = ?", projectId);
}

/** Reads some systems of a project, by slug. */
export function readNodesOf(
  sql: WorkspaceReads,
  projectId: string,
  ids: readonly string[],
): readonly PlacelessNode[] {
  // The sign keeps SQLite from reading all systems of the project.
  const where = "+project_id = ? AND id IN (SELECT value FROM json_each(?))";
  return selectNodes(sql, where, projectId, JSON.stringify(ids));
}

function selectNodes(
  sql: WorkspaceReads,
  where: string,
  ...bindings: string[]
): readonly PlacelessNode[] {
  return sql.rows(
    nodeRow,
    `SELECT id AS systemId, name, slug AS systemSlug, mvp_criticality AS mvpCriticality, status
     FROM systems WHERE ${where} AND deleted_at IS NULL ORDER BY slug`,
    ...bindings,
  );
}

const CORE_FIRST: readonly string[] = ["core", "important", "later"];

/**
 * Puts systems in an order in which they can be built: by level, core systems first within one.
 */
export function orderNodes(
  nodes: readonly PlacelessNode[],
  edges: readonly Edge[],
): readonly GraphNode[] {
  const ids = nodes.map(({ systemId }) => systemId);
  const levels = levelsOf(ids, edges);
  const rank = ({ mvpCriticality }: PlacelessNode): number => CORE_FIRST.indexOf(mvpCriticality);
  const levelOf = ({ systemId }: PlacelessNode): number => levels.get(systemId) ?? 0;
  const place = (found: PlacelessNode, position: number): GraphNode => {
    return { ...found, level: levelOf(found), position };
  };
  return nodes.toSorted((a, b) => levelOf(a) - levelOf(b) || rank(a) - rank(b)).map(place);
}
