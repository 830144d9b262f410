import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { listOf, numberOf, textOf } from "../read-json.ts";

/** A system in the picture. */
export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly criticality: string;
  readonly status: string;
}

interface EdgeRow {
  readonly id: string;
  readonly revision: number;
}

/** The system `from` depends on the system `to`. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** Of the dependency as the server has it; the board shows it. */
  readonly row?: EdgeRow | undefined;
}

export interface Graph {
  /** In an order in which the systems can be built. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** Reads the data of `gameplan__get_dependency_graph`, or several pages of it. */
export function readGraph(...pages: readonly JsonObject[]): Graph {
  const nodes = pages.flatMap((page) =>
    listOf(page, "nodes").map((node) => ({
      id: textOf(node, "systemId"),
      name: textOf(node, "name"),
      criticality: textOf(node, "mvpCriticality"),
      status: textOf(node, "status"),
      position: numberOf(node, "position"),
    })),
  );
  nodes.sort((a, b) => a.position - b.position);
  const edges = pages.flatMap((page) =>
    listOf(page, "edges").map((edge) => ({
      from: textOf(edge, "sourceSystemId"),
      to: textOf(edge, "targetSystemId"),
      type: textOf(edge, "type"),
      row: readRow(edge),
    })),
  );
  return { nodes, edges };
}

function readRow(edge: JsonObject): EdgeRow | undefined {
  const id = textOf(edge, "id");
  return id === "" ? undefined : { id, revision: numberOf(edge, "revision") };
}

/**
 * Returns the part of a graph that one picture can show: all of it, or the systems nearest to
 * `centre`, at most `maxNodes`. An unknown centre is the first system.
 */
export function cutGraph(
  graph: Graph,
  { centre, maxNodes }: { readonly centre: string | undefined; readonly maxNodes: number },
): Graph {
  const { nodes, edges } = graph;
  if (nodes.length <= maxNodes) return onlyKnown(graph);
  const neighbours = Map.groupBy(
    edges.flatMap(({ from, to }) => [[from, to] as const, [to, from] as const]),
    ([end]) => end,
  );
  const known = new Set(nodes.map(({ id }) => id));
  const start = centre !== undefined && known.has(centre) ? centre : (nodes[0]?.id ?? "");
  const near = new Set([start]);
  for (const id of near) {
    for (const [, next] of neighbours.get(id) ?? []) {
      if (near.size < maxNodes && known.has(next)) near.add(next);
    }
  }
  return onlyKnown({ nodes: nodes.filter(({ id }) => near.has(id)), edges });
}

function onlyKnown({ nodes, edges }: Graph): Graph {
  const ids = new Set(nodes.map(({ id }) => id));
  return { nodes, edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)) };
}
