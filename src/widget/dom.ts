type Attributes = Readonly<Record<string, string>>;

/**
 * Creates an element. Strings become text nodes, and attributes are set by name. Threat: markup in
 * untrusted data. Nothing in this directory parses markup, so data cannot become markup.
 */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Creates a button that submits no form. */
export function createButton(className: string, label: string): HTMLButtonElement {
  return el("button", { type: "button", class: className }, label);
}

/**
 * Creates a line icon of 20 by 20 units from one path. It is hidden from the accessibility tree.
 */
export function icon(path: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** The icon of "Close". */
export const CLOSE_ICON = "M5.5 5.5l9 9m0-9l-9 9";

/** The icon of "Refresh" and "Try again". */
export const RELOAD_ICON = "M15.5 8A6 6 0 1 0 16 11M16 4v4h-4";

/** Sets a text only when it changed, so that a live region does not repeat the same text. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
