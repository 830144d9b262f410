import { fenceAfter } from "./fence.ts";

/** A heading and the text below it. The text before the first heading has an empty one. */
export interface Section {
  readonly heading: string;
  /** 1 to 6; of the text before the first heading 0. */
  readonly depth: number;
  readonly text: string;
}

/** A Markdown document, cut at its headings. */
export interface Document {
  /** The first heading of depth 1. */
  readonly title: string | undefined;
  /** `name`, `slug`, `status`, `mvpCriticality`: from the front matter or from lines on top. */
  readonly facts: ReadonlyMap<string, string>;
  readonly sections: readonly Section[];
  /** A code block has no end, so the rest of the document is in it. */
  readonly isFenceOpen: boolean;
}

const FACT_NAMES: ReadonlyMap<string, string> = new Map([
  ["name", "name"],
  ["title", "name"],
  ["slug", "slug"],
  ["systemslug", "slug"],
  ["status", "status"],
  ["criticality", "mvpCriticality"],
  ["mvpcriticality", "mvpCriticality"],
  ["priority", "mvpCriticality"],
]);

// Threat: a long line takes a time that grows faster than the line. Each pattern ends with what
// matches everything, so nothing is tried twice.
const HEADING = /^ {0,3}(#{1,6})[ \t](.*)/s;
const FACT = /^(?:[-*+] )?(?:\*\*|__)?([A-Za-z][A-Za-z ]{1,20}?)(?:\*\*|__)?:(?:\*\*|__)?(.*)/s;

/** Cuts a document at its headings. Headings in code blocks are code. Contract: pure; linear. */
export function splitSections(markdown: string): Document {
  const facts = new Map<string, string>();
  const lines = dropFrontMatter(markdown.split("\n"), facts);
  const sections: { heading: string; depth: number; lines: string[] }[] = [
    { heading: "", depth: 0, lines: [] },
  ];
  let title: string | undefined;
  let fence: string | undefined;
  for (const line of lines) {
    fence = fenceAfter(fence, line);
    const heading = fence === undefined ? readHeading(line) : undefined;
    const section = sections.at(-1);
    if (heading && title === undefined && heading.depth === 1) {
      title = heading.text;
    } else if (heading) {
      sections.push({ heading: heading.text, depth: heading.depth, lines: [] });
    } else if (!(section?.depth === 0 && readFact(line, facts))) {
      section?.lines.push(line);
    }
  }
  return {
    title,
    facts,
    sections: sections.map(({ heading, depth, lines: own }) => ({
      heading,
      depth,
      text: own.join("\n").trim(),
    })),
    isFenceOpen: fence !== undefined,
  };
}

function readHeading(line: string): { readonly depth: number; readonly text: string } | undefined {
  const [, marks = "", rest = ""] = HEADING.exec(line) ?? [];
  const text = dropClosing(rest.trim());
  return text === "" ? undefined : { depth: marks.length, text };
}

/** Drops the marks that may close a heading: the last two of `## Name ##`. */
function dropClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(text[end - 1] ?? "") ? text.slice(0, end).trimEnd() : text;
}

/** Reads a line such as `**Status:** active` on top of a document. */
function readFact(line: string, facts: Map<string, string>): boolean {
  const [, label = "", value = ""] = FACT.exec(line) ?? [];
  const name = FACT_NAMES.get(label.toLowerCase().replaceAll(" ", ""));
  if (name === undefined || value.trim() === "") return false;
  if (!facts.has(name)) facts.set(name, value.trim().replaceAll(/^["']|["']$/g, ""));
  return true;
}

/** Front matter without an end is text. */
function dropFrontMatter(lines: readonly string[], facts: Map<string, string>): readonly string[] {
  if (lines[0]?.trim() !== "---") return lines;
  const end = lines.findIndex((line, index) => index > 0 && line.trim() === "---");
  if (end < 0) return lines;
  for (const line of lines.slice(1, end)) readFact(line, facts);
  return lines.slice(end + 1);
}
