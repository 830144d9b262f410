import { say } from "../texts/say.ts";
import { createCopyButton } from "../chat/conversations/copy-button.ts";
import { el } from "../dom.ts";

/** Draws a block of code with the name of its language and a button that copies it. */
export function drawCodeBlock(text: string, language: string): HTMLElement {
  const code = el("code", language === "" ? {} : { "data-language": language }, text);
  const head = el("div", { class: "code-head" }, el("span", {}, language));
  head.append(createCopyButton(say("Copy code"), () => code.textContent));
  return el("div", { class: "code" }, head, el("pre", { tabindex: "0" }, code));
}

/** A larger block stays without colours, so that a hostile one cannot stop the page. */
const MAX_HIGHLIGHTED_CHARS = 16 * 1024;

/** Colours the code blocks within an element whose text is whole. Loads what that needs once. */
export async function highlightWithin(element: ParentNode): Promise<void> {
  const blocks = [...element.querySelectorAll<HTMLElement>("code[data-language]")];
  const worthy = blocks.filter(({ textContent }) => textContent.length <= MAX_HIGHLIGHTED_CHARS);
  if (worthy.length === 0) return;
  try {
    const { edition, highlight } = await import("./highlight.ts");
    if (edition === EDITION) worthy.forEach(highlight);
  } catch {
    // Without a connection code stays without colours.
  }
}
