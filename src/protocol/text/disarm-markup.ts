/**
 * Removes user names and passwords from URLs: `https://user:secret@host/` becomes `https://host/`.
 * Threat: they make one URL look like another. Real ones are secrets.
 * Contract: pure; linear; idempotent.
 */
export function stripUserinfo(text: string): string {
  const out: string[] = [];
  let copied = 0;
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const start = at + 3;
    AUTHORITY.lastIndex = start;
    const authority = AUTHORITY.exec(text)?.[0] ?? "";
    const end = authority.lastIndexOf("@") + 1;
    if (end === 0) continue;
    out.push(text.slice(copied, start));
    copied = start + end;
  }
  return out.join("") + text.slice(copied);
}

/** The authority of a URL. It ends where a path begins, so no character is read twice. */
const AUTHORITY = /[^\s/?#\\"<>]*/y;

/**
 * Makes Markdown images and links inert. An image becomes `[image removed]`. A link keeps its text,
 * and its URL becomes the host name: `[text] (link to example.com)`. Text that only looks like a
 * link (code, a reference definition) gets a space in between.
 * Contract: pure; linear; idempotent; the result never holds `](` or `]:`.
 */
export function disarmLinks(text: string): string {
  const out: string[] = [];
  const openers: Opener[] = [];
  let copied = 0;
  const copyUpTo = (end: number): void => {
    out.push(text.slice(copied, end));
    copied = end;
  };
  BRACKET.lastIndex = 0;
  for (let found = BRACKET.exec(text); found; found = BRACKET.exec(text)) {
    const at = found.index;
    if (text[at] === "[") {
      const isImage = at > 0 && text[at - 1] === "!";
      const start = isImage ? at - 1 : at;
      copyUpTo(start);
      openers.push({ pieces: out.length, start, isImage });
      continue;
    }
    const next = text[at + 1];
    const opener = openers.pop();
    if (opener?.isImage && (next === "(" || next === "[")) {
      const end = next === "(" ? endOfAddress(text, at + 1) : at + 1;
      out.length = opener.pieces;
      out.push(noteRemoved("image", { text, start: opener.start, end }));
      copied = end;
    } else if (next === "(" || next === ":") {
      copyUpTo(at + 1);
      out.push(" ");
      const link = next === "(" ? readLink(text, at + 2) : undefined;
      if (link) {
        out.push(`(link to ${link.host}`);
        copied = link.end;
      }
    }
    BRACKET.lastIndex = Math.max(copied, at + 1);
  }
  return out.join("") + text.slice(copied);
}

const BRACKET = /[[\]]/g;

/** An opening bracket that may begin a link or an image. */
interface Opener {
  /** Number of output pieces before the bracket. */
  readonly pieces: number;
  readonly start: number;
  readonly isImage: boolean;
}

/** Finds the end of an image's parenthesis: its partner, or the end of the line. */
function endOfAddress(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const char = text[at];
    if (char === "\n") return at;
    if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Reads the URL of a link; undefined without a host. `end` is the index after the URL. */
function readLink(
  text: string,
  start: number,
): { readonly host: string; readonly end: number } | undefined {
  ADDRESS.lastIndex = start;
  const [written = "", bracketed, bare] = ADDRESS.exec(text) ?? [];
  const host = URL.parse(bracketed ?? bare ?? "")?.hostname;
  return host ? { host, end: start + written.length } : undefined;
}

/** The match ends at a bracket, so that no character is read twice. */
const ADDRESS = /\s*(?:<([^<>\n[\]]*)>|([^\s)[\]]*))/y;

/**
 * Makes HTML inert. A tag that loads, links or runs something becomes `[image removed]`,
 * `[link removed]` or similar. Any other tag with attributes gets a space after its `<`. Bare tags
 * and closing tags do nothing and stay.
 * Contract: pure; linear; idempotent.
 */
export function disarmHtml(text: string): string {
  const out: string[] = [];
  let copied = 0;
  let hasEnds = true;
  TAG.lastIndex = 0;
  for (let tag = TAG.exec(text); tag; tag = TAG.exec(text)) {
    const [opening, name = ""] = tag;
    const element = name.toLowerCase();
    const afterName = tag.index + opening.length;
    if (ACTIVE.has(element)) {
      const close: number = hasEnds ? text.indexOf(">", afterName) : -1;
      hasEnds = close !== -1;
      const end = hasEnds ? close + 1 : afterName;
      const note = noteRemoved(callElement(element), { text, start: tag.index, end });
      out.push(text.slice(copied, tag.index), note);
      copied = end;
      TAG.lastIndex = end;
    } else if (!isBare(text, afterName)) {
      out.push(text.slice(copied, tag.index), "< ");
      copied = tag.index + 1;
    }
  }
  return out.join("") + text.slice(copied);
}

const TAG = /<([a-z][^\s/<>]*)/gi;

function isBare(text: string, afterName: number): boolean {
  BARE.lastIndex = afterName;
  return BARE.test(text);
}

const BARE = /\s*\/?>/y;

/** Elements that load, link or run something. */
const ACTIVE: ReadonlySet<string> = new Set(
  (
    "a applet area audio base body embed form frame frameset iframe image img input link math meta " +
    "object picture portal script source style svg track video"
  ).split(" "),
);

function callElement(name: string): string {
  switch (name) {
    case "img":
      return "image";
    case "a":
    case "area":
      return "link";
    case "iframe":
    case "frameset":
      return "frame";
    default:
      return name;
  }
}

/** Writes a note for removed text. Spaces keep neighbours from turning the note into a link. */
function noteRemoved(
  word: string,
  { text, start, end }: { readonly text: string; readonly start: number; readonly end: number },
): string {
  const before = text[start - 1] === "]" ? " " : "";
  const after = "([:!<".includes(text[end] ?? "\n") ? " " : "";
  return `${before}[${word} removed]${after}`;
}
