/** A text, and how many hidden parts it had. */
export interface Unhidden {
  readonly text: string;
  readonly count: number;
}

/**
 * Removes the HTML that a reader is not shown: comments, and elements that their own name or
 * attributes hide. A space takes their place. An element that attributes hide and nothing closes
 * ends with the text, as in a browser.
 * Contract: pure; linear; idempotent. It reads no style sheets.
 */
export function dropHiddenHtml(text: string): Unhidden {
  const out: string[] = [];
  let copied = 0;
  // What nothing closes after one place is not closed after a later one.
  const unclosed = new Set<string>();
  STARTS.lastIndex = 0;
  for (let start = STARTS.exec(text); start; start = STARTS.exec(text)) {
    const { index, 0: opening, 1: name, 2: attributes = "" } = start;
    const after = index + opening.length;
    const end =
      name === undefined
        ? (indexAfter(text, "-->", after) ?? text.length)
        : endOfHidden(text, { name: name.toLowerCase(), attributes, after, unclosed });
    if (end === undefined) continue;
    out.push(text.slice(copied, index), " ");
    copied = end;
    STARTS.lastIndex = end;
  }
  return { text: out.join("") + text.slice(copied), count: out.length / 2 };
}

const STARTS = /<(?:!--|([a-z][^\s/<>]*)([^<>]*))/gi;
/** Elements whose content no browser shows. */
const UNSHOWN: ReadonlySet<string> = new Set(["script", "style", "template"]);
/** Elements without content. */
const VOID: ReadonlySet<string> = new Set(
  "area base br col embed hr img input link meta param source track wbr".split(" "),
);
const HIDING_STYLE =
  /display:none|visibility:(?:hidden|collapse)|(?:opacity|font-size):0(?:\.0*)?(?![.\d])/i;

interface OpenTag {
  readonly name: string;
  /** Up to the next angle bracket. */
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
  if (!UNSHOWN.has(name) || unclosed.has(name)) return undefined;
  const end = endOfElement(text, name, after);
  if (end === undefined) unclosed.add(name);
  return end;
}

/**
 * Tells whether the attributes of a tag hide its element.
 * Threat: a quoted value holds an angle bracket, and what hides the element stands behind it. So a
 * value without an end hides too.
 */
function hides(attributes: string): boolean {
  let style = "";
  const names = attributes.replaceAll(ATTRIBUTE, (_, name: string, value: string) => {
    if (name.toLowerCase() === "style") style += value;
    return ` ${name} `;
  });
  return (
    OPEN_VALUE.test(names) || HIDDEN.test(names) || HIDING_STYLE.test(style.replaceAll(/\s/g, ""))
  );
}

const ATTRIBUTE = /(?<![^\s"'=/])([^\s"'=/]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)/g;
const OPEN_VALUE = /=\s*["']/;
const HIDDEN = /(?:^|[\s/])hidden(?=[\s/]|$)/i;

/** Finds the end of an element, or of its last closing tag; undefined without any. */
function endOfElement(text: string, name: string, from: number): number | undefined {
  let depth = 1;
  let last: number | undefined;
  TAGS.lastIndex = from;
  for (let tag = TAGS.exec(text); tag && depth > 0; tag = depth > 0 ? TAGS.exec(text) : null) {
    if (tag[2]?.toLowerCase() !== name) continue;
    depth += tag[1] === "" ? 1 : -1;
    if (tag[1] !== "") last = TAGS.lastIndex;
  }
  return last === undefined ? undefined : (indexAfter(text, ">", last) ?? text.length);
}

const TAGS = /<(\/?)([a-z][^\s/<>]*)/gi;

function indexAfter(text: string, mark: string, from: number): number | undefined {
  const at = text.indexOf(mark, from);
  return at === -1 ? undefined : at + mark.length;
}
