import MarkdownIt, { type Env, type Token } from "markdown-it";
import type { ElementName, MarkdownElement, MarkdownNode } from "./nodes.ts";

const { unescapeAll } = new MarkdownIt().utils;

/** A block at the top of a text, and the line of the text that it begins with, from 0. */
export interface Block {
  readonly element: MarkdownElement;
  readonly line: number;
  /** The lines at which the parts of a list, quote or table begin. */
  readonly partLines: readonly number[];
}

/** Definitions of link targets that earlier parts of a text made. */
export type Definitions = NonNullable<Env["references"]>;

export interface MarkdownParser {
  /** Reads blocks. Definitions of links in the text are added to `definitions`. */
  parse(text: string, definitions: Definitions): readonly Block[];
  /** Reads the marks of one line, such as emphasis and code. */
  parseInline(text: string): readonly MarkdownNode[];
}

/**
 * Creates a parser of CommonMark with GitHub's tables, strikethrough, tasks and bare addresses.
 * HTML stays text. `allowsAddress` says which links and images become elements; others stay text.
 * Contract: the time of `parse` is linear in its text, also for hostile text.
 */
export function createParser(allowsAddress: (address: string) => boolean): MarkdownParser {
  const parser = new MarkdownIt({ html: false, linkify: true });
  parser.validateLink = allowsAddress;
  // A browser would read it as a slash.
  parser.normalizeLink = (address) => address.replaceAll("\\", "%5C");
  parser.normalizeLinkText = (address) => address;
  return {
    parse: (text, definitions) => readBlocks(parser.parse(text, { references: definitions })),
    parseInline: (text) => toNodes(parser.parseInline(text, {})),
  };
}

function readBlocks(tokens: readonly Token[]): readonly Block[] {
  const blocks: Block[] = [];
  let start = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 0 || token.nesting === 1) continue;
    const own = tokens.slice(start, index + 1);
    start = index + 1;
    const [element] = toNodes(own);
    if (!element || typeof element === "string") continue;
    blocks.push({ element, line: lineOf(own[0]), partLines: partLinesOf(own) });
  }
  return blocks;
}

function partLinesOf(tokens: readonly Token[]): readonly number[] {
  const level = { table_open: 2, bullet_list_open: 1, ordered_list_open: 1, blockquote_open: 1 }[
    tokens[0]?.type ?? ""
  ];
  const parts = tokens.filter((token) => token.level === level && token.nesting !== -1);
  return parts.filter((token) => token.map).map(lineOf);
}

function lineOf(token: Token | undefined): number {
  return token?.map?.[0] ?? 0;
}

interface OpenElement {
  readonly token: Token | undefined;
  readonly children: MarkdownNode[];
}

function toNodes(tokens: readonly Token[]): MarkdownNode[] {
  const top: OpenElement = { token: undefined, children: [] };
  const open: OpenElement[] = [top];
  for (const token of tokens) {
    const parent = open.at(-1) ?? top;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === -1) close(open);
    else parent.children.push(...toLeaves(token));
  }
  return top.children;
}

function close(open: OpenElement[]): void {
  const ended = open.pop();
  const parent = open.at(-1);
  if (!ended?.token || !parent) return;
  // The only paragraph of a tight item is the item's own text.
  if (ended.token.hidden) parent.children.push(...ended.children);
  else parent.children.push(toElement(ended.token, ended.children));
}

function toElement(token: Token, children: readonly MarkdownNode[]): MarkdownElement {
  const name = token.tag as ElementName;
  if (name === "li") return toItem(children);
  const start = name === "ol" ? { start: Number(token.attrGet("start") ?? 1) } : {};
  const address = name === "a" ? { address: attributeOf(token, "href") } : {};
  return { name, children, ...start, ...address, ...readAlign(token) };
}

function attributeOf(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

/** What GitHub Flavored Markdown calls a task begins with its box. */
const TASK = /^\[([ xX])\](?:\s|$)/;

function toItem(children: readonly MarkdownNode[]): MarkdownElement {
  const [first, ...rest] = children;
  const task = typeof first === "string" ? TASK.exec(first) : null;
  if (typeof first !== "string" || !task) return { name: "li", children };
  const text = first.slice(task[0].length);
  return { name: "li", children: [text, ...rest], isDone: task[1] !== " " };
}

function readAlign(token: Token): Pick<MarkdownElement, "align"> {
  const align = /text-align:(left|center|right)/.exec(attributeOf(token, "style"))?.[1];
  return align ? { align: align as "left" | "center" | "right" } : {};
}

function toLeaves(token: Token): readonly MarkdownNode[] {
  switch (token.type) {
    case "inline":
      return toNodes(token.children ?? []);
    case "text":
      return token.content === "" ? [] : [token.content];
    case "softbreak":
      return ["\n"];
    case "hardbreak":
      return [{ name: "br", children: [] }];
    case "code_inline":
      return [{ name: "code", children: [token.content] }];
    case "code_block":
      return [{ name: "pre", children: [token.content] }];
    case "fence": {
      const language = unescapeAll(token.info).trim().split(/\s/)[0] ?? "";
      return [{ name: "pre", children: [token.content], ...(language && { language }) }];
    }
    case "hr":
      return [{ name: "hr", children: [] }];
    case "image": {
      const children = toNodes(token.children ?? []);
      return [{ name: "img", children, address: attributeOf(token, "src") }];
    }
    default:
      return [];
  }
}
