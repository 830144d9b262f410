import { fenceAfter } from "./fence.ts";
import { byWord } from "./field-words.ts";

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
  /**
   * `name`, `slug`, `status`, `mvpCriticality` and `dependsOn`: from the front matter or from lines
   * on top.
   */
  readonly facts: ReadonlyMap<string, string>;
  readonly sections: readonly Section[];
  /** A code block has no end, so the rest of the document is in it. */
  readonly isFenceOpen: boolean;
}

const FACT_NAMES = byWord({
  name: "title",
  slug: "systemslug",
  status: "status",
  mvpCriticality: "criticality priority",
  dependsOn: "requires",
});

/** Keeps a line of a text from being a heading or the mark of a code block; see write-system.ts. */
const ESCAPE = /^\\(?=[ #`~\\])/;

// Threat: a long line takes a time that grows faster than the line. Each pattern ends with what
// matches everything, so nothing is tried twice.
const HEADING = /^ {0,3}(#{1,6})[ \t](.*)/s;
const FACT = /^(?:[-*+] )?(?:\*\*|__)?([A-Za-z][A-Za-z ]{1,20}?)(?:\*\*|__)?:(?:\*\*|__)?(.*)/s;

/** Cuts a document at its headings. Headings in code blocks are code. Contract: pure; linear. */
export function splitSections(markdown: string): Document {
  const facts = new Map<string, string>();
  const lines = openFrontMatter(markdown.split("\n"));
  const sections: { heading: string; depth: number; lines: string[] }[] = [
    { heading: "", depth: 0, lines: [] },
  ];
  let title: string | undefined;
  let fence: string | undefined;
  for (const line of lines) {
    const next = fenceAfter(fence, line);
    const isCode = fence !== undefined || next !== undefined;
    fence = next;
    const heading = isCode ? undefined : readHeading(line);
    const section = sections.at(-1);
    if (heading && title === undefined && heading.depth === 1) {
      title = heading.text;
    } else if (heading) {
      sections.push({ heading: heading.text, depth: heading.depth, lines: [] });
    } else if (isCode || section?.depth !== 0 || !readFact(line, facts)) {
      section?.lines.push(isCode ? line : line.replace(ESCAPE, ""));
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

/** Reads a line such as `**Status:** active` on top of a document. A repetition is text. */
function readFact(line: string, facts: Map<string, string>): boolean {
  const [, label = "", value = ""] = FACT.exec(line) ?? [];
  const word = label.toLowerCase().replaceAll(" ", "");
  const name = FACT_NAMES.get(word);
  if (name === undefined || value.trim() === "" || facts.has(name)) return false;
  facts.set(name, value.trim().replaceAll(/^["']|["']$/g, ""));
  return true;
}

/** The lines of front matter stand on top, as facts or as text. Without an end it is text. */
function openFrontMatter(lines: readonly string[]): readonly string[] {
  const end = lines.indexOf("---", 1);
  return lines[0] === "---" && end > 0 ? lines.toSpliced(end, 1, "").slice(1) : lines;
}
