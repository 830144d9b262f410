import { say } from "../texts/say.ts";
import { el } from "../dom.ts";
import { nameTarget, parseAddress } from "./addresses.ts";
import { drawCodeBlock } from "./code-block.ts";
import { type MarkdownElement, type MarkdownNode, textOfNodes } from "./nodes.ts";

/** What the page allows the text of others to load. */
export interface DrawOptions {
  /** Hosts whose images are shown. Images of other hosts become links. */
  readonly imageHosts: ReadonlySet<string>;
}

/**
 * Draws Markdown. Threat: markup and addresses in untrusted text. Texts become text nodes, elements
 * are those named here, and a link shows which host it opens.
 */
export function drawNode(node: MarkdownNode, options: DrawOptions): Node {
  if (typeof node === "string") return document.createTextNode(node);
  const children = (): Node[] => node.children.map((child) => drawNode(child, options));
  switch (node.name) {
    case "a":
      return drawLink(node, children());
    case "img":
      return drawImage(node, options);
    case "pre":
      return drawCodeBlock(textOfNodes(node.children), node.language ?? "");
    case "table":
      // A wide table scrolls by itself, also by keyboard.
      return el("div", { class: "table", tabindex: "0" }, el("table", {}, ...children()));
    case "th":
    case "td": {
      const scope = node.name === "th" ? { scope: "col" } : {};
      return el(node.name, { ...scope, ...(node.align && { class: node.align }) }, ...children());
    }
    case "ol":
      return el("ol", node.start === 1 ? {} : { start: String(node.start) }, ...children());
    case "li":
      return drawItem(node, children());
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return drawHeading(node, children());
    case "p":
    case "ul":
    case "blockquote":
    case "hr":
    case "br":
    case "thead":
    case "tbody":
    case "tr":
    case "em":
    case "strong":
    case "s":
    case "code":
      return el(node.name, {}, ...children());
  }
}

/** The title of the page comes before the headings of a text. */
function drawHeading({ name }: MarkdownElement, children: readonly Node[]): HTMLElement {
  const level = Number(name.slice(1));
  const attributes = { class: `heading level-${level}`, role: "heading" };
  return el("p", { ...attributes, "aria-level": String(Math.min(level + 1, 6)) }, ...children);
}

function drawItem({ isDone }: MarkdownElement, children: readonly Node[]): HTMLElement {
  if (isDone === undefined) return el("li", {}, ...children);
  const box = el("input", { type: "checkbox", disabled: "" });
  box.checked = isDone;
  box.setAttribute("aria-label", isDone ? say("Done") : say("Not done"));
  return el("li", { class: "task" }, box, ...children);
}

/** Threat: a link whose text names another place. The host stands behind every other text. */
function drawLink({ address = "" }: MarkdownElement, children: readonly Node[]): Node {
  const url = parseAddress(address);
  if (!url) return el("span", {}, ...children);
  const link = el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow" });
  link.append(...children);
  const target = nameTarget(url);
  const text = link.textContent;
  const isNamed = text === address || text === target;
  return isNamed ? link : el("span", {}, link, el("span", { class: "host" }, ` (${target})`));
}

/** Loads the images of a block that is whole: a block that grows is drawn many times. */
export function loadImages(block: ParentNode): void {
  for (const image of block.querySelectorAll<HTMLImageElement>("img[data-address]")) {
    image.src = image.dataset["address"] ?? "";
    image.removeAttribute("data-address");
  }
}

/** Threat: an image that tells a foreign host what its address holds. */
function drawImage(node: MarkdownElement, { imageHosts }: DrawOptions): Node {
  const text = textOfNodes(node.children) || say("Image");
  const url = parseAddress(node.address ?? "");
  if (url?.protocol !== "https:" || !imageHosts.has(url.host)) {
    return drawLink(node, [document.createTextNode(text)]);
  }
  const quiet = { loading: "lazy", referrerpolicy: "no-referrer" };
  return el("img", { ...quiet, alt: text, "data-address": url.href });
}
