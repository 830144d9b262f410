import { fenceAfter } from "../markdown/fence.ts";

/** Makes a name safe inside a line of Markdown: it stays one plain text. */
export function inline(name: string): string {
  return name
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]#|~]/g, (mark) => `\\${mark}`)
    .replaceAll("<", "&lt;");
}

const HEADING = /^ {0,3}#{1,6}(?:[ \t](.*))?$/s;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;

/**
 * Takes a text that people wrote as a part of a document. Its lists, emphasis and code stay. Its
 * headings become bold lines, an open code block is closed, and HTML is shown as text, so that the
 * text cannot change the document around it.
 */
export function block(text: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.replaceAll(/\r\n?/g, "\n").trim().split("\n")) {
    const next = fenceAfter(fence, line);
    // In a list, a mark with spaces before it opens a block that ends with the list.
    const code = next === fence ? line : line.trimStart();
    lines.push(fence === undefined && next === undefined ? tame(line) : code);
    fence = next;
  }
  if (fence !== undefined) lines.push(fence);
  return lines.join("\n");
}

function tame(line: string): string {
  const [found, text = ""] = HEADING.exec(line) ?? [];
  if (found !== undefined) return text.trim() === "" ? "" : `**${tame(text.trim())}**`;
  // Below a line of text it would make a heading of it.
  if (UNDERLINE.test(line)) return "";
  return line.replaceAll(/<(?=[A-Za-z/!?])/g, "&lt;");
}
