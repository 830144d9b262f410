import { say } from "../../texts/say.ts";
import { createIconButton, nameButton } from "./icon-button.ts";

const SHEETS = "M7 7V4.5h8.5V13H13M4.5 7H13v8.5H4.5z";
const CHECK = "M4.5 10.5l3.5 3.5 7.5-8";
const SHOWN_MS = 2_000;

/**
 * Creates the button that copies a text. A page over plain HTTP has no clipboard, and no button.
 */
export function createCopyButton(name: string, read: () => string): HTMLElement {
  const button = createIconButton("turn-tool", name, SHEETS);
  const draw = (label: string, path: string): void => nameButton(button, label, path);
  // A screen reader reads the new name of the focused button out.
  button.setAttribute("aria-live", "polite");
  button.classList.toggle("absent", !isSecureContext);
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(read()).then(
      () => draw(say("Copied"), CHECK),
      () => draw(say("The browser does not allow copying"), SHEETS),
    );
    setTimeout(() => draw(name, SHEETS), SHOWN_MS);
  });
  return button;
}
