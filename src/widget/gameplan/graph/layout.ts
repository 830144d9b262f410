import type { Graph, GraphEdge, GraphNode } from "./graph.ts";

/** Sizes of the picture, in units of its view box. */
export const NODE = { width: 168, height: 40 } as const;
const COLUMN = 232;
const ROW = 56;
const MARGIN = 12;
/** Passes that bring neighbours closer; more of them change little. */
const PASSES = 4;

export interface PlacedNode extends GraphNode {
  /** Left upper corner. */
  readonly x: number;
  readonly y: number;
}

export interface PlacedEdge extends GraphEdge {
  readonly source: PlacedNode;
  readonly target: PlacedNode;
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/**
 * Places a graph in columns: a system stands right of everything that it depends on. Within a
 * column, systems stand near those that they are linked with.
 * Contract: pure; the same graph gives the same places. A cycle does not occur in the data, and is
 * drawn in some order when it does.
 */
export function layOut({ nodes, edges }: Graph): Layout {
  const columns = orderColumns(sortIntoColumns(nodes, edges), edges);
  const rows = Math.max(1, ...columns.map((column) => column.length));
  const placed = columns.flatMap((column, at) =>
    column.map((node, row) => ({
      ...node,
      x: MARGIN + at * COLUMN,
      // A short column stands in the middle.
      y: MARGIN + row * ROW + ((rows - column.length) * ROW) / 2,
    })),
  );
  const byId = new Map(placed.map((node) => [node.id, node]));
  return {
    nodes: placed,
    edges: edges.flatMap((edge) => {
      const [source, target] = [byId.get(edge.from), byId.get(edge.to)];
      return source && target ? [{ ...edge, source, target }] : [];
    }),
    width: 2 * MARGIN + (Math.max(1, columns.length) - 1) * COLUMN + NODE.width,
    height: 2 * MARGIN + (rows - 1) * ROW + NODE.height,
  };
}

type Columns = readonly (readonly GraphNode[])[];

/** The column of a system is the longest way to a system that depends on nothing. */
function sortIntoColumns(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Columns {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const depths = new Map<string, number>();
  // The nodes come in an order in which they can be built, so what a node needs has its depth.
  for (const { id } of nodes) {
    const needed = (targets.get(id) ?? []).map(({ to }) => depths.get(to) ?? -1);
    depths.set(id, Math.max(-1, ...needed) + 1);
  }
  const columns: GraphNode[][] = [];
  for (const node of nodes) (columns[depths.get(node.id) ?? 0] ??= []).push(node);
  return columns;
}

function orderColumns(columns: Columns, edges: readonly GraphEdge[]): Columns {
  const linked = Map.groupBy(
    edges.flatMap(({ from, to }) => [[from, to] as const, [to, from] as const]),
    ([end]) => end,
  );
  const rows = new Map<string, number>();
  const ordered = columns.map((column) => [...column]);
  const note = (column: readonly GraphNode[]): void =>
    column.forEach(({ id }, row) => rows.set(id, row - column.length / 2));
  ordered.forEach(note);
  const centre = ({ id }: GraphNode): number => {
    const own = rows.get(id) ?? 0;
    const others = (linked.get(id) ?? []).map(([, other]) => rows.get(other) ?? own);
    return others.length === 0 ? own : others.reduce((sum, row) => sum + row) / others.length;
  };
  for (let pass = 0; pass < PASSES; pass += 1) {
    // From left to right, then back: two columns that move at once would only change places.
    for (const column of pass % 2 === 0 ? ordered : ordered.toReversed()) {
      const centres = new Map(column.map((node) => [node, centre(node)]));
      column.sort((a, b) => (centres.get(a) ?? 0) - (centres.get(b) ?? 0));
      note(column);
    }
  }
  return ordered;
}
