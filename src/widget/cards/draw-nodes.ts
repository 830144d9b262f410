import { drawWholeText } from "../markdown/text-view.ts";
import type { CardAttributes, CardElement, CardNode } from "./define-tool-card.ts";

const HTML = new Set(
  (
    "a bdi br caption code dd details div dl dt em li mark ol p pre progress section slot span strong " +
    "summary table tbody td th thead time tr ul"
  ).split(" "),
);
const SVG = new Set("svg g path rect circle line polyline text tspan title desc".split(" "));
const ATTRIBUTES = new Set(
  (
    "part role title lang dir scope colspan open datetime value max tabindex viewBox x y x1 y1 x2 " +
    "y2 dx dy cx cy r rx width height d points transform text-anchor dominant-baseline"
  ).split(" "),
);
const ARIA = /^aria-[a-z]+$/;
/** More nodes than this make a page slow, so they are not drawn. */
const MAX_NODES = 3000;

/**
 * Turns what a card shows into elements. Threat: markup and addresses in untrusted data. Strings
 * become text nodes; only names of the lists above become elements and attributes; a link leads
 * within the page's own origin.
 * Fails: throws for anything else.
 */
export function drawNodes(nodes: readonly CardNode[]): readonly Node[] {
  if (!Array.isArray(nodes)) throw new TypeError("A card returns a list of nodes.");
  const budget = { left: MAX_NODES };
  return nodes.map((node) => drawNode(node, budget));
}

function drawNode(node: CardNode, budget: { left: number }): Node {
  if (budget.left-- <= 0) throw new Error(`A card has more than ${MAX_NODES} nodes.`);
  if (typeof node === "string") return document.createTextNode(node);
  if (!Array.isArray(node)) throw new TypeError("A node is a text or a list.");
  const [name, attributes, ...children] = node as CardElement;
  if (name === "markdown") return drawWholeText(children.map(String).join(""));
  const element = createNamed(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(...children.map((child) => drawNode(child, budget)));
  return element;
}

function createNamed(name: string): Element {
  if (HTML.has(name)) return document.createElement(name);
  if (SVG.has(name)) return document.createElementNS("http://www.w3.org/2000/svg", name);
  throw new Error(`A card cannot have the element ${name}.`);
}

function setAttribute(element: Element, key: string, value: CardAttributes[string]): void {
  if (value === false) return;
  const text = value === true ? "" : String(value);
  if (key === "href" && element.localName === "a") {
    // An address of another origin or a script would be a way out of the page.
    if (new URL(text, location.href).origin !== location.origin) {
      throw new Error("A link of a card leads within the origin of its page.");
    }
  } else if (key === "name" && element.localName === "slot") {
    // The other slots are those of the chat itself.
    if (!text.startsWith("card-")) throw new Error("The slot of a card begins with card-.");
  } else if (!ATTRIBUTES.has(key) && !ARIA.test(key)) {
    throw new Error(`A card cannot have the attribute ${key}.`);
  }
  element.setAttribute(key, text);
}
