/**
 * Tells whether the attributes of a tag hide its element.
 * Threat: an unclosed quoted value holds a bracket, and what hides the element stands behind it. So
 * a value without an end hides too.
 * Contract: pure; linear. Colours are not compared.
 */
export function hides(attributes: string): boolean {
  let style = "";
  const names = attributes.replaceAll(ATTRIBUTE, (_, name: string, value: string) => {
    if (name.toLowerCase() === "style") style += `${value.replaceAll(/^["']|["']$/g, "")};`;
    return ` ${name} `;
  });
  if (OPEN_VALUE.test(names) || HIDDEN.test(names)) return true;
  const plain = style === "" ? "" : readStyle(style);
  return HIDING_STYLE.test(plain) || (NO_ROOM.test(plain) && CUT_OFF.test(plain));
}

const ATTRIBUTE = /(?<![^\s"'=/])([^\s"'=/]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)/g;
const OPEN_VALUE = /=\s*["']/;
const HIDDEN = /(?:^|[\s/])(?:hidden|popover)(?=[\s/]|$)/i;

/** Reads a style as a browser does: references, comments and escapes, without white space. */
function readStyle(style: string): string {
  return style
    .replaceAll(/&#(x[\da-f]{1,6}|\d{1,7});?/gi, (_, code: string) =>
      characterOf(Number(/^x/i.test(code) ? `0${code}` : code)),
    )
    .replaceAll(
      /&([a-z]{3,7});?/gi,
      (whole, name: string) => NAMED.get(name.toLowerCase()) ?? whole,
    )
    .replaceAll(/\/\*[^]*?(?:\*\/|$)/g, "")
    .replaceAll(/\\(?:([\da-f]{1,6})\s?|([^]))/gi, (_, hex, char) =>
      hex === undefined ? char : characterOf(parseInt(hex, 16)),
    )
    .replaceAll(/\s/g, "")
    .toLowerCase();
}

function characterOf(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["ast", "*"],
  ["bsol", "\\"],
  ["colon", ":"],
  ["newline", " "],
  ["period", "."],
  ["sol", "/"],
  ["tab", " "],
]);

const ZERO = String.raw`\+?(?:0+(?:\.0*)?|\.0+)(?:e\d+)?(?![.\d])`;
/** A colour whose opacity is zero. */
const CLEAR = String.raw`(?:rgb|hsl)a?\((?:(?:[^,();]{0,9},){3}|[^,();/]{0,30}/)${ZERO}`;
/** What hides alone. Text below two pixels cannot be read. */
const HIDING_STYLE = new RegExp(
  String.raw`(?<![\w-])(?:${[
    "display:none",
    "(?:content-)?visibility:(?:hidden|collapse)",
    "mso-hide:all",
    `(?:opacity|font|font-size|zoom|scale):${ZERO}`,
    "(?:opacity|font-size):-",
    String.raw`font-size:(?:[01]?(?:\.\d+)?p[xt]|0*\.0\d*r?em|\d(?:\.\d+)?%)`,
    String.raw`(?:filter|transform):[^;]{0,99}(?:opacity|scale[xy]?)\(${ZERO}`,
    String.raw`(?:-webkit-text-fill-)?color:(?:transparent|${CLEAR})`,
    String.raw`(?:left|top|text-indent):-(?:\d{3,}|\d{2,}(?:r?em|v[wh]))`,
    String.raw`clip:rect\(`,
    String.raw`clip-path:(?:inset\((?:[5-9]\d|100)%|(?:circle|ellipse)\(0)`,
  ].join("|")})`,
);
const NO_ROOM = new RegExp(String.raw`(?<![\w-])(?:max-)?(?:height|width):${ZERO}`);
const CUT_OFF = /(?<![\w-])overflow(?:-[xy])?:(?:hidden|clip)/;
