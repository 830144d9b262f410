import { type Block, readLine } from "./block.ts";

/** Text that still grows: final blocks, and a tail of bounded size. */
export interface TextDocument {
  /** Final blocks. Versions of a document share this list, so read only `closedCount` of it. */
  readonly blocks: readonly Block[];
  readonly closedCount: number;
  readonly open: Block | undefined;
  /** The last line, as long as it has no line break. */
  readonly line: string;
}

export const EMPTY_TEXT: TextDocument = { blocks: [], closedCount: 0, open: undefined, line: "" };

/** Largest tail in characters. The tail is drawn again for each delta; final blocks are not. */
const MAX_TAIL_CHARS = 16 * 1024;

/**
 * Appends a delta.
 * Contract: pure for its caller; the work depends on the size of the delta, not of the document.
 */
export function appendText(document: TextDocument, delta: string): TextDocument {
  const writer = writeBlocks(document);
  const lines = delta.split("\n");
  const rest = lines.pop() ?? "";
  let line = document.line;
  for (const next of lines) {
    writer.endLine(cutLongLine(line + next, writer));
    line = "";
  }
  line = cutLongLine(line + rest, writer);
  return { ...writer.state(), line };
}

/** Ends the text: every block becomes final. */
export function closeText(document: TextDocument): TextDocument {
  const writer = writeBlocks(document);
  if (document.line) writer.endLine(document.line);
  writer.close();
  return { ...writer.state(), line: "" };
}

/** Returns the blocks after the final ones, as if the text ended here. */
export function tailOf(document: TextDocument): readonly Block[] {
  return closeText({ ...document, blocks: [], closedCount: 0 }).blocks;
}

/** Returns the text without structure, for a screen reader. */
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
  // Versions of a document share one growing list, so closing a block copies nothing. A version
  // that is not the newest gets its own list.
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

  /** Closes the open block although its text continues, to keep the tail small. */
  function cut(piece: string): void {
    const block: Block = open ?? { kind: "paragraph", text: "" };
    open = { ...block, text: block.text + piece };
    close();
    if (block.kind === "code") open = { kind: "code", text: "", continued: true };
  }

  return { endLine, cut, close, state: () => ({ blocks, closedCount: blocks.length, open }) };
}

/** Cuts a very long line into pieces, at spaces where possible. Returns the last piece. */
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
