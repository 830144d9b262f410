import type { CardElement } from "../../cards/define-tool-card.ts";
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

function describePicture({ nodes, edges }: Graph): string {
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

function drawEdge({ source, target, type }: PlacedEdge): CardElement {
  const [x1, y1] = [source.x, source.y + NODE.height / 2];
  const [x2, y2] = [target.x + NODE.width, target.y + NODE.height / 2];
  const bend = Math.max(24, (x1 - x2) / 2);
  const line = `M${x1} ${y1}C${x1 - bend} ${y1} ${x2 + bend} ${y2} ${x2 + 8} ${y2}`;
  const head = `M${x2 + 9} ${y2 - 4}L${x2 + 1} ${y2}L${x2 + 9} ${y2 + 4}`;
  return [
    "g",
    {},
    ["title", {}, `${source.name} ${VERBS[type] ?? type} ${target.name}`],
    ["path", { part: `edge-line edge-${type}`, d: line }],
    ["path", { part: "edge-head", d: head }],
  ];
}

/** Says a dependency in words, between the names of its systems. */
export const VERBS: Readonly<Record<string, string>> = {
  requires: "requires",
  enhances: "enhances",
  optional: "can use",
};
