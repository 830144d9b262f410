import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { graphEdge, graphNode, type GraphEdge, type GraphNode } from "../entities/dependency.ts";
import { count, rowId } from "../entities/fields.ts";
import { groupBySource, type Neighbours } from "../graph/dependency-graph.ts";
import { orderNodes, readEdges, readNodes } from "../graph/read-graph.ts";
import { defineOperation } from "interlock-edge/tools";
import { findProject } from "../rows/project-row.ts";

const MOST_NODES = 200;
const USUAL_NODES = 100;
/** A page ends before the system with which it would hold more. */
const MOST_EDGES = 600;

/** Arguments of a list whose place is a number. */
export const offsetArguments = {
  offset: v.exactOptional(v.pipe(count, v.description("`nextOffset` of the page before."))),
  limit: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_NODES))),
};

export const getDependencyGraph = defineOperation({
  name: "get_dependency_graph",
  kind: "read",
  input: v.strictObject({ projectId: rowId, ...offsetArguments }),
  output: v.strictObject({
    /** In an order in which they can be built. */
    nodes: v.array(graphNode),
    /** All dependencies of these systems. */
    edges: v.array(graphEdge),
    nodeTotal: count,
    edgeTotal: count,
    levels: count,
    nextOffset: v.nullable(count),
  }),
  run(sql, { projectId, offset = 0, limit = USUAL_NODES }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const edges = readEdges(sql, projectId);
    const ordered = orderNodes(readNodes(sql, projectId), edges);
    const page = cutPage(ordered.slice(offset, offset + limit), groupBySource(edges));
    const end = offset + page.nodes.length;
    return ok({
      ...page,
      nodeTotal: ordered.length,
      edgeTotal: edges.length,
      levels: (ordered.at(-1)?.level ?? -1) + 1,
      nextOffset: end < ordered.length && page.nodes.length > 0 ? end : null,
    });
  },
});

function cutPage(
  candidates: readonly GraphNode[],
  bySource: Neighbours,
): { readonly nodes: GraphNode[]; readonly edges: GraphEdge[] } {
  const nodes: GraphNode[] = [];
  const edges: GraphEdge[] = [];
  for (const candidate of candidates) {
    const own = bySource.get(candidate.systemId) ?? [];
    if (nodes.length > 0 && edges.length + own.length > MOST_EDGES) break;
    nodes.push(candidate);
    edges.push(...own);
  }
  return { nodes, edges };
}

export const getDependencyGraphTool = gameplanTool(getDependencyGraph, {
  description:
    "Shows the systems of a project in an order in which they can be built, and their dependencies.",
  service: "dependencyService",
  done: ({ nodeTotal, edgeTotal }) =>
    `Read ${formatCount(nodeTotal, "system")} and ${formatCount(edgeTotal, "dependency")}`,
});
