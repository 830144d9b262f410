import { el } from "../../dom.ts";
import { parseInline } from "./inline-spans.ts";
import type { Block } from "./block.ts";
import { appendText, closeText, EMPTY_TEXT, tailOf, type TextDocument } from "./text-document.ts";

export interface TextView {
  readonly root: HTMLElement;
  update(text: TextDocument): void;
}

/**
 * Shows growing text. Final blocks are drawn once. Only the tail, whose size is bounded, is drawn
 * again. Contract: text becomes text nodes only, and there are no links.
 */
export function createTextView(): TextView {
  const root = el("div", { class: "text" });
  let shown: TextDocument | undefined;
  let closedCount = 0;
  let tail: HTMLElement[] = [];
  return {
    root,
    update(text) {
      if (text === shown) return;
      for (const element of tail) removeBlock(element);
      for (const block of text.blocks.slice(closedCount, text.closedCount)) place(root, block);
      tail = tailOf(text).map((block) => place(root, block));
      closedCount = text.closedCount;
      shown = text;
    },
  };
}

/** Draws a whole text. Contract: as of a view. */
export function drawWholeText(text: string): HTMLElement {
  const view = createTextView();
  view.update(closeText(appendText(EMPTY_TEXT, text)));
  return view.root;
}

function place(root: HTMLElement, block: Block): HTMLElement {
  const element = drawBlock(block);
  (block.kind === "item" ? listFor(root, block.ordinal) : root).append(element);
  return element;
}

function drawBlock(block: Block): HTMLElement {
  switch (block.kind) {
    case "paragraph":
      return el("p", {}, ...drawInline(block.text));
    case "heading":
      return el(
        "p",
        { class: "heading", role: "heading", "aria-level": "3" },
        ...drawInline(block.text),
      );
    case "code": {
      const label = { class: block.continued ? "continued" : "", tabindex: "0" };
      return el("pre", label, el("code", {}, block.text));
    }
    case "item": {
      const item = el("li", {}, ...drawInline(block.text));
      if (block.ordinal !== undefined) item.setAttribute("value", String(block.ordinal));
      return item;
    }
  }
}

/** Returns the list of an item: the list directly before it, or a new one. */
function listFor(root: HTMLElement, ordinal: number | undefined): HTMLElement {
  const name = ordinal === undefined ? "ul" : "ol";
  const last = root.lastElementChild;
  if (last instanceof HTMLElement && last.localName === name) return last;
  const list = el(name);
  root.append(list);
  return list;
}

function removeBlock(element: HTMLElement): void {
  const parent = element.parentElement;
  element.remove();
  if (element.localName === "li" && parent?.childElementCount === 0) parent.remove();
}

/** Draws the marks of one line. Contract: as of a view. */
export function drawInline(text: string): (Node | string)[] {
  return parseInline(text).map((span) => {
    if (span.kind === "code") return el("code", {}, span.text);
    return span.kind === "bold" ? el("strong", {}, span.text) : span.text;
  });
}
