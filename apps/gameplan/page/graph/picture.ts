import type { CardElement } from "../../../../src/widget/cards/define-tool-card.ts";
import type { Graph } from "./graph.ts";
import { layOut, NODE, type PlacedEdge, type PlacedNode } from "./layout.ts";

/** Characters of a name that fit into a box. The whole name is the box's title. */
const MAX_NAME = 20;

/**
 * Draws a graph as a picture: a box for each system, and an arrow to each system that it depends
 * on. `marked` is the system that the picture is about.
 * Contract: pure. Boxes come in the order of `layOut`.
 */
export function drawPicture(graph: Graph, marked?: string): CardElement {
  const { nodes, edges, width, height } = layOut(graph);
  return [
    "svg",
    {
      part: "graph",
      role: "img",
      "aria-label": describePicture(graph),
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    },
    ...edges.map(drawEdge),
    ...nodes.map((node) => drawNode(node, node.id === marked)),
  ];
}

/** Says what a picture shows, for readers who cannot see it. */
export function describePicture({
  nodes,
  edges,
}: {
  readonly nodes: readonly unknown[];
  readonly edges: readonly unknown[];
}): string {
  const systems = nodes.length === 1 ? "1 system" : `${nodes.length} systems`;
  const links = edges.length === 1 ? "1 dependency" : `${edges.length} dependencies`;
  return `Dependency graph: ${systems}, ${links}. The list after the picture says the same.`;
}

function drawNode({ id, name, criticality, status, x, y }: PlacedNode, isMarked: boolean) {
  const kinds = ["node-box", `node-${criticality}`, `node-${status}`];
  const part = [...kinds, ...(isMarked ? ["node-marked"] : [])].join(" ");
  const label = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).trimEnd()}…` : name;
  const box: CardElement = ["rect", { part, x, y, width: NODE.width, height: NODE.height, rx: 10 }];
  const text: CardElement = [
    "text",
    {
      part: "node-name",
      x: x + NODE.width / 2,
      y: y + NODE.height / 2,
      "text-anchor": "middle",
      "dominant-baseline": "central",
    },
    label.toWellFormed(),
  ];
  return ["g", { part: "node" }, ["title", {}, name || id], box, text] as CardElement;
}

function drawEdge({ source, target, lanes, type }: PlacedEdge): CardElement {
  const { line, head } = pathAlong(source, target, lanes);
  return [
    "g",
    {},
    ["title", {}, `${source.name} ${VERBS[type] ?? type} ${target.name}`],
    ["path", { part: `edge-line edge-${type}`, d: line }],
    ["path", { part: "edge-head", d: head }],
  ];
}

/** The line from a box to one left of it, through the places that are free for it. */
export function pathAlong(
  source: Point,
  target: Point,
  lanes: readonly Point[],
): { readonly line: string; readonly head: string } {
  const start = { x: source.x, y: source.y + NODE.height / 2 };
  const end = { x: target.x + NODE.width + 8, y: target.y + NODE.height / 2 };
  const pieces = [`M${start.x} ${start.y}`];
  let from = start;
  for (const lane of lanes) {
    pieces.push(bend(from, { x: lane.x + NODE.width, y: lane.y }), `H${lane.x}`);
    from = lane;
  }
  pieces.push(bend(from, end));
  const head = `M${end.x + 1} ${end.y - 4}L${end.x - 7} ${end.y}L${end.x + 1} ${end.y + 4}`;
  return { line: pieces.join(""), head };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A curve to the left that begins and ends level. */
function bend(from: Point, to: Point): string {
  const pull = Math.max(24, (from.x - to.x) / 2);
  return `C${from.x - pull} ${from.y} ${to.x + pull} ${to.y} ${to.x} ${to.y}`;
}

/** Says a dependency in words, between the names of its systems. */
export const VERBS: Readonly<Record<string, string>> = {
  requires: "requires",
  enhances: "enhances",
  optional: "can use",
};
