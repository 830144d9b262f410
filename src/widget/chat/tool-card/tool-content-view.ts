import { el } from "../../dom.ts";
import type { ToolContentPart } from "../answer/tool-content.ts";

/** Draws texts as text, and each image once it is read. */
export function drawToolContent(
  parts: readonly ToolContentPart[],
  name: string,
  read: (number: number) => Promise<string | undefined>,
): readonly HTMLElement[] {
  return parts.map((part) => {
    if (part.type === "text") return el("p", { class: "tool-text" }, part.text);
    const label = `Image ${part.number} of ${name}`;
    const frame = el("p", { class: "tool-image" }, `${label} is loading.`);
    void show(frame, label, read(part.number));
    return frame;
  });
}

async function show(
  frame: HTMLElement,
  label: string,
  reading: Promise<string | undefined>,
): Promise<void> {
  const url = await reading;
  if (url === undefined) frame.textContent = `${label} cannot be shown.`;
  else frame.replaceChildren(el("img", { src: url, alt: label }));
}
