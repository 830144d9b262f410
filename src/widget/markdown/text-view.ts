import { el } from "../dom.ts";
import type { DrawOptions } from "./draw-markdown.ts";
import type { MarkdownView } from "./markdown.ts";
import { appendText, EMPTY_TEXT, endText, type GrowingText, joinText } from "./growing-text.ts";
import { loadedMarkdown, loadMarkdown } from "./load-markdown.ts";

export interface TextView {
  readonly root: HTMLElement;
  update(text: GrowingText): void;
}

/**
 * Shows growing text: plain until the renderer of Markdown is loaded, then formatted.
 * Contract: a text never becomes markup, and the work is linear in its length.
 */
export function createTextView(): TextView {
  const root = el("div", { class: "text" });
  let view: MarkdownView | undefined;
  let shown = EMPTY_TEXT;

  function update(text: GrowingText): void {
    if (text === shown) return;
    if (!view) startFormatting();
    const piece = joinText(text, shown.count);
    if (!view) showPlain(root, piece);
    else if (piece !== "") view.append(piece);
    if (text.isEnded) view?.end();
    shown = text;
  }

  function startFormatting(): void {
    // A text that is already shown is drawn again as soon as the renderer is there.
    if (shown !== EMPTY_TEXT) return;
    view = loadedMarkdown()?.createMarkdownView(root, optionsFor(root));
    if (!view) void loadMarkdown().then((renderer) => renderer && drawAgain());
  }

  function drawAgain(): void {
    const plain = shown;
    shown = EMPTY_TEXT;
    root.replaceChildren();
    update(plain);
  }

  return { root, update };
}

/** The element of the page that shows the text says which hosts it loads images from. */
function optionsFor(root: HTMLElement): DrawOptions {
  const around = root.getRootNode();
  const hosts = around instanceof ShadowRoot ? around.host.getAttribute("image-hosts") : "";
  return { imageHosts: new Set((hosts ?? "").split(/\s+/).filter((host) => host !== "")) };
}

function showPlain(root: HTMLElement, piece: string): void {
  const paragraph = root.firstElementChild ?? root.appendChild(el("p"));
  paragraph.append(piece);
}

/** Draws a whole text. Contract: as of a view. */
export function drawWholeText(text: string): HTMLElement {
  const view = createTextView();
  view.update(endText(appendText(EMPTY_TEXT, text)));
  return view.root;
}

/** Draws the marks of one line. Contract: as of a view. */
export function drawLine(text: string): HTMLElement {
  const root = el("span", {}, text);
  const format = (): void =>
    root.replaceChildren(...(loadedMarkdown()?.drawInline(text) ?? [text]));
  if (loadedMarkdown()) format();
  else void loadMarkdown().then(format);
  return root;
}

/** Returns a text without its marks, once the renderer is loaded. */
export function readAloud(text: GrowingText, maxChars: number): string {
  const start = joinText(text).slice(0, maxChars);
  return loadedMarkdown()?.toPlainText(start) ?? start;
}
