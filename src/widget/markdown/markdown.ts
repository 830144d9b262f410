import { isLinkable } from "./addresses.ts";
import { highlightWithin } from "./code-block.ts";
import { createParser } from "./create-parser.ts";
import { drawNode, type DrawOptions, loadImages } from "./draw-markdown.ts";
import { joinBlocks } from "./join-blocks.ts";
import { MarkdownReader } from "./markdown-reader.ts";
import { textOfNodes } from "./nodes.ts";
import { replaceNodes } from "./replace-nodes.ts";

/**
 * The renderer of Markdown, which is a file of its own: the page shows a plain text until it is
 * there.
 */

/** The build that this file belongs to. */
export const edition = EDITION;

const parser = createParser(isLinkable);
/** Rows of lists load nothing from elsewhere. */
const WITHOUT_IMAGES: DrawOptions = { imageHosts: new Set() };

export interface MarkdownView {
  /** Shows a further piece of the text. */
  append(piece: string): void;
  /** Shows the text as it stands: no piece follows. */
  end(): void;
}

/**
 * Shows a text that grows. Blocks that are whole are drawn once. Nodes of the block that grows are
 * kept as far as they are the same, so that a selection in it lasts.
 */
export function createMarkdownView(root: HTMLElement, options: DrawOptions): MarkdownView {
  const reader = new MarkdownReader(parser);
  let finalCount = 0;

  function show({ final, tail }: ReturnType<MarkdownReader["end"]>): void {
    const drawn = [...final, ...tail].map((block) => drawNode(block, options));
    replaceNodes(root, finalCount, drawn);
    const ended = [...root.children].slice(finalCount, finalCount + final.length);
    finalCount += final.length;
    for (const [index, block] of ended.entries()) {
      loadImages(block);
      void highlightWithin(block);
      if (final[index]?.continues && joinBlocks(block)) finalCount -= 1;
    }
  }

  return {
    append: (piece) => show(reader.append(piece)),
    end: () => show(reader.end()),
  };
}

/** Draws the marks of one line. */
export function drawInline(text: string): readonly Node[] {
  return parser.parseInline(text).map((node) => drawNode(node, WITHOUT_IMAGES));
}

/** Returns a text without its marks, as it is read out. */
export function toPlainText(text: string): string {
  const blocks = parser.parse(text, {});
  return blocks.map(({ element }) => textOfNodes([element])).join("\n");
}
