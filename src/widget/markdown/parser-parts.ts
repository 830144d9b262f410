/**
 * What markdown-it imports from five packages, as far as the page needs it. Those packages weigh
 * more than twice as much as markdown-it itself. The build puts this file in their place.
 */

/** `uc.micro`: characters around which emphasis may begin or end. */
export const P = /\p{P}/u;
export const S = /\p{S}/u;

/** `mdurl` and `punycode.js`: the parser of the page changes no address. */
const unchanged = (address: string): string => address;
export { unchanged as decode, unchanged as encode, unchanged as format, unchanged as parse };
export default { toASCII: unchanged, toUnicode: unchanged };

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  bull: "•",
  cent: "¢",
  copy: "©",
  deg: "°",
  divide: "÷",
  euro: "€",
  frac12: "½",
  frac14: "¼",
  frac34: "¾",
  ge: "≥",
  gt: ">",
  harr: "↔",
  hellip: "…",
  infin: "∞",
  laquo: "«",
  larr: "←",
  ldquo: "“",
  le: "≤",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  micro: "µ",
  middot: "·",
  minus: "−",
  nbsp: "\u00A0",
  ndash: "–",
  ne: "≠",
  para: "¶",
  plusmn: "±",
  pound: "£",
  quot: '"',
  raquo: "»",
  rarr: "→",
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  sect: "§",
  times: "×",
  trade: "™",
  yen: "¥",
};

/** `entities`: reads a named character. A name that models hardly write stays text. */
export function decodeHTMLStrict(reference: string): string {
  return NAMED[reference.slice(1, -1)] ?? reference;
}

interface Match {
  readonly schema: string;
  readonly index: number;
  readonly lastIndex: number;
  readonly raw: string;
  readonly text: string;
  readonly url: string;
}

const ADDRESS = /https?:\/\/(?:[^\s<>"'`|\\^{}()[\]]|\([^\s<>"'`|\\^{}()[\]]*\))+/gi;
/** Such marks end a sentence or an emphasis rather than an address. */
const MARKS_AFTER = /[.,:;!?*_~]+$/;

/** `linkify-it`: finds bare addresses of web pages in a text. */
export class LinkifyIt {
  pretest(text: string): boolean {
    return text.includes("://");
  }

  test(text: string): boolean {
    return this.match(text) !== null;
  }

  match(text: string): Match[] | null {
    const found = [...text.matchAll(ADDRESS)].map((match) => toMatch(match[0], match.index));
    return found.length === 0 ? null : found;
  }

  matchAtStart(text: string): Match | null {
    const end = /\s/.exec(text)?.index ?? text.length;
    const first = this.match(text.slice(0, end))?.[0];
    return first?.index === 0 ? first : null;
  }
}

function toMatch(found: string, index: number): Match {
  const url = found.replace(MARKS_AFTER, "");
  const schema = url.slice(0, url.indexOf("//"));
  return { schema, index, lastIndex: index + url.length, raw: url, text: url, url };
}
