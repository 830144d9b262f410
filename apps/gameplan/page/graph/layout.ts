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
  /** Where the line passes the columns between its ends: left edge and middle of a free place. */
  readonly lanes: readonly { readonly x: number; readonly y: number }[];
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/**
 * Places a graph in columns: a system stands right of everything that it depends on. Within a
 * column, systems stand near those that they are linked with. A line that passes a column has a
 * place of its own there, so that it does not run behind a system that it has nothing to do with.
 * Contract: pure; the same graph gives the same places. A cycle does not occur in the data, and is
 * drawn in some order when it does.
 */
export function layOut({ nodes, edges }: Graph): Layout {
  const { columns, routes } = sortIntoColumns(nodes, edges);
  const ordered = orderColumns(columns, routes);
  const rows = Math.max(1, ...ordered.map((column) => column.length));
  const places = new Map(
    ordered.flatMap((column, at) =>
      column.map((id, row) => {
        // A short column stands in the middle.
        const y = MARGIN + row * ROW + ((rows - column.length) * ROW) / 2;
        return [id, { x: MARGIN + at * COLUMN, y }] as const;
      }),
    ),
  );
  const known = new Map(nodes.map((node) => [node.id, node]));
  const placed = [...places].flatMap(([id, place]) => {
    const node = known.get(id);
    return node ? [{ ...node, ...place }] : [];
  });
  const byId = new Map(placed.map((node) => [node.id, node]));
  return {
    nodes: placed,
    edges: routes.flatMap(({ edge, stops }) => {
      const [source, target] = [byId.get(edge.from), byId.get(edge.to)];
      const passed = stops.slice(1, -1).flatMap((id) => places.get(id) ?? []);
      const lanes = passed.map(({ x, y }) => ({ x, y: y + NODE.height / 2 }));
      return source && target ? [{ ...edge, source, target, lanes }] : [];
    }),
    width: 2 * MARGIN + (Math.max(1, ordered.length) - 1) * COLUMN + NODE.width,
    height: 2 * MARGIN + (rows - 1) * ROW + NODE.height,
  };
}

/** Ids of systems and of lanes, which are the places that lines pass. */
type Columns = readonly (readonly string[])[];

/** A dependency, and what its line touches from `from` to `to`, one place a column. */
interface Route {
  readonly edge: GraphEdge;
  readonly stops: readonly string[];
}

/** The column of a system is the longest way to a system that depends on nothing. */
function sortIntoColumns(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
): { readonly columns: Columns; readonly routes: readonly Route[] } {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const depths = new Map<string, number>();
  const columns: Set<string>[] = [];
  // The nodes come in an order in which they can be built, so what a node needs has its depth.
  for (const { id } of nodes) {
    const needed = (targets.get(id) ?? []).map(({ to }) => depths.get(to) ?? -1);
    const depth = Math.max(-1, ...needed) + 1;
    depths.set(id, depth);
    (columns[depth] ??= new Set()).add(id);
  }
  const routes = edges.map((edge) => {
    const [first = 0, last = 0] = [depths.get(edge.from), depths.get(edge.to)];
    const lanes = Array.from({ length: Math.max(0, first - last - 1) }, (_, at) => {
      // Lines to one system share a lane.
      const column = first - 1 - at;
      const lane = `${column} ${edge.to}`;
      columns[column]?.add(lane);
      return lane;
    });
    return { edge, stops: [edge.from, ...lanes, edge.to] };
  });
  return { columns: columns.map((column) => Array.from(column)), routes };
}

function orderColumns(columns: Columns, routes: readonly Route[]): Columns {
  const linked = Map.groupBy(
    routes.flatMap(({ stops }) =>
      stops.slice(1).flatMap((to, at) => {
        const from = stops[at] ?? to;
        return [[from, to] as const, [to, from] as const];
      }),
    ),
    ([end]) => end,
  );
  const rows = new Map<string, number>();
  const ordered = columns.map((column) => [...column]);
  const note = (column: readonly string[]): void =>
    column.forEach((id, row) => rows.set(id, row - column.length / 2));
  ordered.forEach(note);
  const centre = (id: string): number => {
    const own = rows.get(id) ?? 0;
    const others = (linked.get(id) ?? []).map(([, other]) => rows.get(other) ?? own);
    return others.length === 0 ? own : others.reduce((sum, row) => sum + row) / others.length;
  };
  for (let pass = 0; pass < PASSES; pass += 1) {
    // From left to right, then back: two columns that move at once would only change places.
    for (const column of pass % 2 === 0 ? ordered : ordered.toReversed()) {
      const centres = new Map(column.map((id) => [id, centre(id)]));
      column.sort((a, b) => (centres.get(a) ?? 0) - (centres.get(b) ?? 0));
      note(column);
    }
  }
  return ordered;
}
