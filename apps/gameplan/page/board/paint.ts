import { el } from "../../../../src/widget/dom.ts";
import { NODE } from "../graph/layout.ts";
import { pathAlong } from "../graph/picture.ts";
import { arrowBetween, type Point } from "./geometry.ts";
import { type BoardArrow, type BoardModel, type BoardSystem, keyOf, sayArrow } from "./model.ts";

/** Characters of a name that fit into a box. */
const MAX_NAME = 21;
const SVG = "http://www.w3.org/2000/svg";

export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly (Node | string)[]
): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Draws a box, with the knob from which an arrow is drawn. `data-` names what a pointer hits. */
export function drawBox({ id, name, criticality, status, at, isPlaced }: BoardSystem): SVGElement {
  const kinds = ["node-box", `node-${criticality}`, `node-${status}`].join(" ");
  const label = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).trimEnd()}…` : name;
  const { width, height } = NODE;
  return svg(
    "g",
    {
      part: "node",
      "data-node": id,
      transform: moveTo(at),
      ...(isPlaced && { "data-placed": "" }),
    },
    svg("title", {}, name),
    svg("rect", { part: kinds, width, height, rx: 10 }),
    svg(
      "text",
      {
        part: "node-name",
        x: width / 2,
        y: height / 2,
        "text-anchor": "middle",
        "dominant-baseline": "central",
      },
      label.toWellFormed(),
    ),
    svg("circle", { class: "knob", "data-knob": id, cx: 0, cy: height / 2, r: 7 }),
  );
}

/** Draws a box whose name is too small to read; pointed at, it says its name. */
export function drawPlainBox({ id, name, criticality, status, at }: BoardSystem): SVGElement {
  const part = ["node", "node-box", `node-${criticality}`, `node-${status}`].join(" ");
  const { width, height } = NODE;
  return svg(
    "rect",
    { part, "data-node": id, transform: moveTo(at), width, height, rx: 10 },
    svg("title", {}, name),
  );
}

export function moveTo({ x, y }: Point): string {
  return `translate(${x} ${y})`;
}

/** Draws an arrow. A wide line that nobody sees makes it easy to hit. */
export function drawArrow(model: BoardModel, arrow: BoardArrow): SVGElement {
  const group = svg(
    "g",
    { class: "arrow", "data-arrow": keyOf(arrow), ...(arrow.isPending && { "data-pending": "" }) },
    svg("title", {}, sayArrow(model, arrow)),
    svg("path", { class: "arrow-room" }),
    svg("path", { part: `edge-line edge-${arrow.type}` }),
    svg("path", { part: "edge-head" }),
  );
  placeArrow(model, arrow, group);
  return group;
}

/** Draws the line of an arrow anew, after one of its ends moved. */
export function placeArrow(model: BoardModel, arrow: BoardArrow, group: Element): void {
  const { line, head } = pathsOf(model, arrow);
  const [, room, shown, end] = group.children;
  room?.setAttribute("d", line);
  shown?.setAttribute("d", line);
  end?.setAttribute("d", head);
}

/** Draws arrows of one kind as one line, which no pointer hits. */
export function drawJoinedArrows(model: BoardModel, arrows: readonly BoardArrow[]): SVGElement {
  const paths = arrows.map((arrow) => pathsOf(model, arrow));
  const type = arrows[0]?.type ?? "";
  return svg(
    "g",
    { class: "arrow joined" },
    svg("path", {
      part: `edge-line edge-${type}`,
      d: paths.map(({ line }) => line).join(""),
    }),
    svg("path", { part: "edge-head", d: paths.map(({ head }) => head).join("") }),
  );
}

function pathsOf(
  { systems }: BoardModel,
  { from, to, lanes }: BoardArrow,
): { readonly line: string; readonly head: string } {
  const [source, target] = [systems.get(from), systems.get(to)];
  if (!source || !target) return { line: "", head: "" };
  return lanes ? pathAlong(source.at, target.at, lanes) : arrowBetween(source.at, target.at);
}

/** Says what the lines mean. */
export function drawLegend(): HTMLElement {
  const kinds = [
    ["requires", "requires"],
    ["enhances", "enhances"],
    ["optional", "can use"],
  ] as const;
  const items = kinds.map(([type, words]) => {
    const line = el("span", { class: "sample", "data-type": type, "aria-hidden": "true" });
    return el("li", {}, line, words);
  });
  const lead = el("span", { class: "note" }, "An arrow leads to what a system needs:");
  return el("div", { class: "legend" }, lead, el("ul", {}, ...items));
}
