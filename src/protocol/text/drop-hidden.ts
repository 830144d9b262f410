import { endOfComment, endOfElement, endOfLast, indexAfter, TAG } from "./html-element.ts";
import { hides } from "./hiding-attributes.ts";

/** A text, and how many hidden parts it had. */
export interface Unhidden {
  readonly text: string;
  readonly count: number;
}

/**
 * Removes the HTML that a reader is not shown: comments of every form, and elements that their own
 * name or attributes hide. A space takes their place. An element that attributes hide and nothing
 * closes ends with the text, as in a browser.
 * Contract: pure; linear; idempotent once tags with attributes are disarmed. It reads no style
 * sheets.
 */
export function dropHiddenHtml(text: string): Unhidden {
  const out: string[] = [];
  let copied = 0;
  // What nothing closes after one place is not closed after a later one.
  const unclosed = new Set<string>();
  START.lastIndex = 0;
  for (let start = START.exec(text); start; start = START.exec(text)) {
    const { index, 1: mark, 2: name, 3: attributes = "" } = start;
    const after = START.lastIndex;
    // A value may hold a tag, which comes to light when the tag around it is disarmed.
    if (name !== undefined) START.lastIndex = index + 1 + name.length;
    const end =
      name === undefined
        ? endOfNote(text, { index, mark, unclosed })
        : endOfHidden(text, { name: name.toLowerCase(), attributes, after, unclosed });
    if (end === undefined) continue;
    out.push(text.slice(copied, index), " ");
    copied = end;
    START.lastIndex = end;
  }
  return { text: out.join("") + text.slice(copied), count: out.length / 2 };
}

/** A comment, what a browser takes for one, or a tag. */
const START = new RegExp(String.raw`<(?:(!--)|[!?]|/(?![a-z>])|${TAG})`, "gi");

/** What a browser takes for a comment, and is honest in a page, a feed or a program. */
const HONEST =
  /<(?:!doctype html>|!\[CDATA\[|\?xml version="1\.[01]"(?: encoding="[\w-]{1,16}")? ?\?>|\?(?:>|, \w{1,32}>| (?:extends|super) \w{1,32}[>,]))/iy;

interface Note {
  readonly index: number;
  /** Present in a comment that begins as one. */
  readonly mark: string | undefined;
  readonly unclosed: Set<string>;
}

/** Finds the end of a comment, or of what a browser takes for one; undefined for honest text. */
function endOfNote(text: string, { index, mark, unclosed }: Note): number | undefined {
  if (mark !== undefined) return endOfComment(text, index);
  HONEST.lastIndex = index;
  if (unclosed.has(">") || HONEST.test(text)) return undefined;
  const end = indexAfter(text, ">", index);
  if (end === undefined) unclosed.add(">");
  return end;
}

/** Elements whose content no browser shows. */
const UNSHOWN: ReadonlySet<string> = new Set(
  "audio canvas datalist iframe noembed noframes noscript rp script style template video".split(
    " ",
  ),
);
/** Elements without content. */
const VOID: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);
const OPEN = /\sopen(?=[\s=/]|$)/i;

interface OpenTag {
  readonly name: string;
  readonly attributes: string;
  /** Index after them. */
  readonly after: number;
  readonly unclosed: Set<string>;
}

/** Finds the end of an element that no reader is shown; undefined for any other. */
function endOfHidden(text: string, tag: OpenTag): number | undefined {
  const { name, attributes, after, unclosed } = tag;
  if (VOID.has(name)) return undefined;
  if (hides(attributes)) return endOfElement(text, name, after) ?? text.length;
  const isUnshown = UNSHOWN.has(name) || (name === "dialog" && !OPEN.test(attributes));
  if (!isUnshown || unclosed.has(name)) return undefined;
  const end = endOfElement(text, name, after) ?? endOfLast(text, name, after);
  if (end === undefined) unclosed.add(name);
  return end;
}
