import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { type Graph, type GraphEdge, type GraphNode, readGraph } from "../graph/graph.ts";
import { type Layout, layOut } from "../graph/layout.ts";
import { VERBS } from "../graph/picture.ts";
import { listOf, numberOf, objectOf, textOf } from "../read-json.ts";
import type { Point } from "./geometry.ts";

/** What the server knows of a board. */
export interface BoardData extends Graph {
  /** Where people put systems, by id. */
  readonly places: ReadonlyMap<string, Point>;
  /** Systems that the filters let through; the board may show fewer. */
  readonly nodeTotal: number;
  readonly edgeTotal: number;
  /** Where the page puts each system that nobody has put elsewhere. */
  readonly layout: Layout;
}

/** Reads the data of `gameplan__get_board`. */
export function readBoard(data: JsonObject): BoardData {
  const graph = readGraph(data);
  const places = listOf(data, "nodes").flatMap((node) => {
    const place = objectOf(node, "place");
    if (!Object.hasOwn(place, "x")) return [];
    return [
      [textOf(node, "systemId"), { x: numberOf(place, "x"), y: numberOf(place, "y") }] as const,
    ];
  });
  return {
    ...graph,
    places: new Map(places),
    nodeTotal: numberOf(data, "nodeTotal"),
    edgeTotal: numberOf(data, "edgeTotal"),
    layout: layOut(graph),
  };
}

/** What the reader did and the server has not confirmed yet. */
export interface Pending {
  /** Undefined: the page chooses the place. */
  readonly moves: ReadonlyMap<string, Point | undefined>;
  readonly added: readonly GraphEdge[];
  readonly removed: readonly GraphEdge[];
  /** Kinds of dependencies, by `keyOf`. */
  readonly kinds: ReadonlyMap<string, string>;
}

export interface BoardSystem extends GraphNode {
  readonly at: Point;
  /** A person put it there. */
  readonly isPlaced: boolean;
}

export interface BoardArrow extends GraphEdge {
  readonly isPending: boolean;
  /** The places that the line passes; undefined where a person moved one of its ends. */
  readonly lanes?: readonly Point[];
}

/** What the board shows. */
export interface BoardModel {
  readonly systems: ReadonlyMap<string, BoardSystem>;
  readonly arrows: readonly BoardArrow[];
}

/** Contract: pure. What the reader did stands over what the server knows. */
export function makeModel(data: BoardData, pending: Pending): BoardModel {
  const free = new Map(data.layout.nodes.map(({ id, x, y }) => [id, { x, y }]));
  const systems = new Map(
    data.nodes.map((node) => {
      const { id } = node;
      const own = pending.moves.has(id) ? pending.moves.get(id) : data.places.get(id);
      const at = own ?? free.get(id) ?? { x: 0, y: 0 };
      return [id, { ...node, at, isPlaced: own !== undefined }] as const;
    }),
  );
  const lanes = new Map(data.layout.edges.map((edge) => [keyOf(edge), edge.lanes]));
  const removed = new Set(pending.removed.map(keyOf));
  const known = new Set(data.edges.map(keyOf));
  const added = pending.added.filter((edge) => !known.has(keyOf(edge)));
  const isShown = ({ from, to }: GraphEdge): boolean => systems.has(from) && systems.has(to);
  const isFree = (id: string): boolean => systems.get(id)?.isPlaced === false;
  const arrows = [
    ...data.edges
      .filter((edge) => isShown(edge) && !removed.has(keyOf(edge)))
      .map((edge): BoardArrow => {
        const passed = isFree(edge.from) && isFree(edge.to) ? lanes.get(keyOf(edge)) : undefined;
        const kind = pending.kinds.get(keyOf(edge));
        const shown = { isPending: kind !== undefined, ...(passed && { lanes: passed }) };
        return Object.assign(shown, edge, kind !== undefined && { type: kind });
      }),
    ...added.filter(isShown).map((edge) => Object.assign({ isPending: true }, edge)),
  ];
  return { systems, arrows };
}

export function keyOf({ from, to }: Pick<GraphEdge, "from" | "to">): string {
  return `${from} ${to}`;
}

/** Says an arrow in words. */
export function sayArrow({ systems }: BoardModel, { from, to, type }: GraphEdge): string {
  const name = (id: string): string => systems.get(id)?.name ?? id;
  return `${name(from)} ${VERBS[type] ?? type} ${name(to)}`;
}

/**
 * Says why an arrow cannot be drawn, by names; undefined: it can. The server checks again, because
 * a large board shows a part of the project.
 */
export function refuseArrow(model: BoardModel, from: string, to: string): string | undefined {
  const nameOf = (id: string): string => model.systems.get(id)?.name ?? "";
  if (from === to) return `${nameOf(from)} cannot depend on itself.`;
  const same = model.arrows.find((arrow) => arrow.from === from && arrow.to === to);
  if (same) return `${sayArrow(model, same)} already.`;
  const way = findWay(model, to, from);
  if (!way) return undefined;
  const names = [...way, to].map(nameOf).join(" → ");
  return `${nameOf(from)} cannot depend on ${nameOf(to)}: the systems would depend on each other in a circle, ${names}.`;
}

/** The ids on the shortest way along arrows, both ends included. */
function findWay({ arrows }: BoardModel, from: string, to: string): string[] | undefined {
  const targets = Map.groupBy(arrows, (arrow) => arrow.from);
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  // The map grows while its keys are read.
  for (const id of cameFrom.keys()) {
    if (id === to) break;
    for (const arrow of targets.get(id) ?? []) {
      if (!cameFrom.has(arrow.to)) cameFrom.set(arrow.to, id);
    }
  }
  if (!cameFrom.has(to)) return undefined;
  const way: string[] = [];
  for (let id: string | undefined = to; id !== undefined; id = cameFrom.get(id)) way.push(id);
  return way.toReversed();
}
