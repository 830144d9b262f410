import { createButton, icon } from "../../dom.ts";

/** The icon of "Edit" and "Rename". */
export const PENCIL = "M4 16l.8-3.2L13 4.6 15.4 7l-8.2 8.2z";

/** Creates a button that shows an icon alone. Its name is read out, and shown to a pointer. */
export function createIconButton(className: string, name: string, path: string): HTMLButtonElement {
  const button = createButton(className, "");
  nameButton(button, name, path);
  return button;
}

/** Gives such a button another name and icon. */
export function nameButton(button: HTMLButtonElement, name: string, path: string): void {
  button.setAttribute("aria-label", name);
  button.title = name;
  button.replaceChildren(icon(path));
}
