import { say } from "../../texts/say.ts";
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
    const label = say("Image {number} of {name}", { number: part.number, name });
    const frame = el("p", { class: "tool-image" }, say("{image} is loading.", { image: label }));
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
  if (url === undefined) frame.textContent = say("{image} cannot be shown.", { image: label });
  else frame.replaceChildren(el("img", { src: url, alt: label }));
}
