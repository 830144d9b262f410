/** One block of formatted text. The text of a paragraph, heading or item may hold inline marks. */
export type Block =
  | { readonly kind: "paragraph" | "heading"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly continued: boolean }
  | {
      readonly kind: "item";
      readonly text: string;
      /** The number of an item in a numbered list. */
      readonly ordinal: number | undefined;
    };

/** What a line does to the open block: it grows it, starts another block, or ends it. */
export type LineEffect =
  | { readonly kind: "grow" | "start"; readonly block: Block }
  | { readonly kind: "end" };

const FENCE = /^ {0,3}```/;
const HEADING = /^#{1,6} +(.+)$/;
const ITEM = /^ {0,8}(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;

/** Reads one whole line as Markdown: fences, headings, list items and paragraphs. */
export function readLine(open: Block | undefined, line: string): LineEffect {
  if (open?.kind === "code") {
    if (FENCE.test(line)) return { kind: "end" };
    return { kind: "grow", block: { ...open, text: `${open.text}${line}\n` } };
  }
  if (FENCE.test(line)) return start({ kind: "code", text: "", continued: false });
  if (line.trim() === "") return { kind: "end" };
  const heading = HEADING.exec(line);
  if (heading) return start({ kind: "heading", text: heading[1] ?? "" });
  const item = ITEM.exec(line);
  if (item) {
    const ordinal = item[1] ? Number(item[1]) : undefined;
    return start({ kind: "item", text: item[2] ?? "", ordinal });
  }
  if (!open) return start({ kind: "paragraph", text: line });
  return { kind: "grow", block: { ...open, text: `${open.text}\n${line}` } };
}

function start(block: Block): LineEffect {
  return { kind: "start", block };
}
