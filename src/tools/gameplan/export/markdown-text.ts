/** Makes a name safe inside a line of Markdown: it stays one plain text. */
export function inline(name: string): string {
  return name
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]#|~]/g, (mark) => `\\${mark}`)
    .replaceAll("<", "&lt;");
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*$/;
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
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      lines.push(line);
    } else {
      lines.push(fence === undefined ? tame(line) : line);
    }
  }
  if (fence !== undefined) lines.push(fence);
  return lines.join("\n");
}

function tame(line: string): string {
  const heading = HEADING.exec(line)?.[1];
  if (heading !== undefined) return heading === "" ? "" : `**${tame(heading)}**`;
  // Below a line of text it would make a heading of it.
  if (UNDERLINE.test(line)) return "";
  return line.replaceAll(/<(?=[A-Za-z/!?])/g, "&lt;");
}
