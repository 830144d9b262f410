/** A tag without its brackets: name and attributes. A bracket in a quoted value ends no tag. */
export const TAG = String.raw`([a-z][^\s/<>]*)((?:=\s*(?:"[^"]*"|'[^']*')|[^<>=]+|=)*)`;
const TOKEN = new RegExp(String.raw`<(?:!--|(/?)${TAG})`, "gi");

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));
/** Elements whose content has no tags. */
const RAW = setOf("iframe noembed noframes script style textarea title xmp");
/** Elements that the next one of their kind closes. */
const CLOSED_BY_NEXT = setOf("dd dt li option p td th tr");
/** An end tag within one of these closes nothing outside of it. */
const BOUNDARY = setOf("applet button caption marquee math object select svg table template");

/**
 * Finds the index after a comment; the end of the text where nothing ends it. Readers differ about
 * `<!-->` and `--!>`, so that these end none.
 */
export function endOfComment(text: string, index: number): number {
  return indexAfter(text, "-->", index + "<!--".length) ?? text.length;
}

export function indexAfter(text: string, mark: string, from: number): number | undefined {
  const at = text.indexOf(mark, from);
  return at === -1 ? undefined : at + mark.length;
}

/**
 * Finds the index after an element whose first tag ends at `from`; undefined when nothing closes
 * it.
 * Threat: a comment, a value or another element holds an end tag, so that what follows seems shown.
 * Contract: pure; linear.
 */
export function endOfElement(text: string, name: string, from: number): number | undefined {
  if (RAW.has(name)) return endOfRaw(text, name, from);
  const depths = { own: 1, inner: 0 };
  let inner = "";
  let last: number | undefined;
  TOKEN.lastIndex = from;
  for (let token = TOKEN.exec(text); token && depths.own > 0; token = TOKEN.exec(text)) {
    const found = token[2]?.toLowerCase();
    const change = token[1] === "/" ? -1 : 1;
    if (found === undefined) TOKEN.lastIndex = endOfComment(text, token.index);
    else if (change === 1 && RAW.has(found)) {
      TOKEN.lastIndex = endOfRaw(text, found, TOKEN.lastIndex) ?? text.length;
    } else if (inner === "" && found === name) {
      depths.own += change;
      if (change === -1) last = TOKEN.lastIndex;
    } else if (inner === "" ? change === 1 && BOUNDARY.has(found) : found === inner) {
      depths.inner += change;
      inner = depths.inner === 0 ? "" : found;
    }
  }
  const isClosed = depths.own === 0 || CLOSED_BY_NEXT.has(name);
  return isClosed && last !== undefined ? endOfTag(text, last) : undefined;
}

/** Finds the index after the first end tag; undefined without any. */
function endOfRaw(text: string, name: string, from: number): number | undefined {
  const end = endTags(name, from).exec(text);
  return end ? endOfTag(text, end.index) : undefined;
}

/** Finds the index after the last end tag, also in comments and values; undefined without any. */
export function endOfLast(text: string, name: string, from: number): number | undefined {
  const tags = endTags(name, from);
  let end: number | undefined;
  for (let tag = tags.exec(text); tag; tag = tags.exec(text)) end = tag.index;
  return end === undefined ? undefined : endOfTag(text, end);
}

function endTags(name: string, from: number): RegExp {
  const tags = new RegExp(String.raw`</${name}(?![^\s/<>])`, "gi");
  tags.lastIndex = from;
  return tags;
}

function endOfTag(text: string, from: number): number {
  return indexAfter(text, ">", from) ?? text.length;
}
