/** One block of formatted text. The text of a paragraph, heading or item may hold inline marks. */
export type Block =
  | { readonly kind: "paragraph" | "heading"; readonly text: string }
  | { readonly kind: "code"; readonly text: string; readonly continued: boolean }
  | {
      readonly kind: "item";
      readonly text: string;
      /** The number of an item of a numbered list. */
      readonly ordinal: number | undefined;
    };

/** Text that is still growing: blocks that are final, and a tail of bounded size. */
export interface TextDocument {
  /** Final blocks. The list is shared between versions of a document: read `closedCount` of it. */
  readonly blocks: readonly Block[];
  readonly closedCount: number;
  readonly open: Block | undefined;
  /** The last line, which has no end yet. */
  readonly line: string;
}

export const EMPTY_TEXT: TextDocument = { blocks: [], closedCount: 0, open: undefined, line: "" };

/** Largest tail in characters: it is drawn anew for each piece of text, final blocks never are. */
const MAX_TAIL_CHARS = 16 * 1024;

/**
 * Appends a piece of text.
 * Contract: pure as seen from outside; work is in proportion to the piece, not to the document.
 */
export function appendText(document: TextDocument, piece: string): TextDocument {
  const writer = writeBlocks(document);
  const lines = piece.split("\n");
  const rest = lines.pop() ?? "";
  let line = document.line;
  for (const next of lines) {
    writer.endLine(cutLongLine(line + next, writer));
    line = "";
  }
  line = cutLongLine(line + rest, writer);
  return { ...writer.state(), line };
}

/** Ends the text: nothing of it is provisional any more. */
export function closeText(document: TextDocument): TextDocument {
  const writer = writeBlocks(document);
  if (document.line) writer.endLine(document.line);
  writer.close();
  return { ...writer.state(), line: "" };
}

/** The blocks after the final ones, as they would be if the text ended here. */
export function tailOf(document: TextDocument): readonly Block[] {
  return closeText({ ...document, blocks: [], closedCount: 0 }).blocks;
}

/** The text as it reads without marks of structure, for a reader that hears it. */
export function plainText(document: TextDocument): string {
  const blocks = [...document.blocks.slice(0, document.closedCount), ...tailOf(document)];
  return blocks.map((block) => block.text).join("\n");
}

interface BlockWriter {
  endLine(line: string): void;
  cut(piece: string): void;
  close(): void;
  state(): Omit<TextDocument, "line">;
}

function writeBlocks(document: TextDocument): BlockWriter {
  // Versions of a document share one growing list, so that closing a block costs no copy; a
  // version that is not the newest one gets its own.
  const isNewest = document.blocks.length === document.closedCount && document.closedCount > 0;
  const blocks = isNewest
    ? (document.blocks as Block[])
    : document.blocks.slice(0, document.closedCount);
  let open = document.open;

  function close(): void {
    if (open && !(open.kind === "code" && open.continued && open.text === "")) blocks.push(open);
    open = undefined;
  }

  function endLine(line: string): void {
    const next = readLine(open, line);
    if (next.kind !== "grow") close();
    open = next.kind === "end" ? undefined : next.block;
    if (open?.kind === "heading") close();
    else if (open && open.text.length > MAX_TAIL_CHARS) cut("");
  }

  /** Closes what is open although the text goes on, to keep the tail small. */
  function cut(piece: string): void {
    const block: Block = open ?? { kind: "paragraph", text: "" };
    open = { ...block, text: block.text + piece };
    close();
    if (block.kind === "code") open = { kind: "code", text: "", continued: true };
  }

  return { endLine, cut, close, state: () => ({ blocks, closedCount: blocks.length, open }) };
}

/** Hands over all of an endless line but its end, at a space where there is one. */
function cutLongLine(line: string, writer: BlockWriter): string {
  let rest = line;
  while (rest.length > MAX_TAIL_CHARS) {
    const space = rest.lastIndexOf(" ", MAX_TAIL_CHARS) + 1;
    let end = space > MAX_TAIL_CHARS / 2 ? space : MAX_TAIL_CHARS;
    if (isHighSurrogate(rest.charCodeAt(end - 1))) end -= 1;
    writer.cut(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

type LineEffect =
  | { readonly kind: "grow" | "start"; readonly block: Block }
  | { readonly kind: "end" };

const FENCE = /^ {0,3}```/;
const HEADING = /^#{1,6} +(.+)$/;
const ITEM = /^ {0,8}(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;

function readLine(open: Block | undefined, line: string): LineEffect {
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
