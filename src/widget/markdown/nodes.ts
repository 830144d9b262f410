/** A text, or an element of Markdown. */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  readonly name: ElementName;
  readonly children: readonly MarkdownNode[];
  /** The number that an ordered list begins with. */
  readonly start?: number;
  /** Whether the task of a list item is done. */
  readonly isDone?: boolean;
  /** The language of a code block, as the text names it. */
  readonly language?: string;
  /** Where a link leads, or where an image lies. */
  readonly address?: string;
  /** The block before it, of the same kind, was too long to be read at once: both are one. */
  readonly continues?: boolean;
  /** On which side the text of a table's cell stands. */
  readonly align?: "left" | "center" | "right";
}

export type ElementName =
  | "p"
  | "h1"
  | "h2"
  | "h3"
  | "h4"
  | "h5"
  | "h6"
  | "ul"
  | "ol"
  | "li"
  | "blockquote"
  | "hr"
  | "pre"
  | "table"
  | "thead"
  | "tbody"
  | "tr"
  | "th"
  | "td"
  | "em"
  | "strong"
  | "s"
  | "code"
  | "a"
  | "img"
  | "br";

/** Returns the text of nodes without their structure. */
export function textOfNodes(nodes: readonly MarkdownNode[]): string {
  return nodes
    .map((node) => (typeof node === "string" ? node : textOfNodes(node.children)))
    .join("");
}
