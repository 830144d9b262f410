import { say } from "../../texts/say.ts";
import { el } from "../../dom.ts";
import type { AttachedFile } from "./attached-file.ts";

/** Draws a file: an image small, and the name of each. */
export function drawFileName({ name, part }: AttachedFile): HTMLElement[] {
  const picture = part.type === "image" ? [el("img", { src: part.image, alt: "" })] : [];
  return [...picture, el("bdi", {}, name)];
}

/** Lists the files of a question. */
export function drawFileNames(files: readonly AttachedFile[]): HTMLElement[] {
  if (files.length === 0) return [];
  const items = files.map((file) => el("li", { class: "file" }, ...drawFileName(file)));
  return [el("ul", { class: "files", "aria-label": say("Files") }, ...items)];
}
