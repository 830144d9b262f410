/**
 * Characters that have no look or change the direction of others: default-ignorable characters
 * (zero-width, direction controls, fillers, variant selectors, tags), controls, and annotation
 * marks.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}[\p{Cc}--[\n\t]]\uFFF9-\uFFFB]/gv;
const LINE_END = /\r\n?|[\u2028\u2029]/g;

const NON_JOINER = "\u200c";
const JOINER = "\u200d";
const EMOJI_STYLE = "\ufe0f";

/** Letters of scripts in which a joiner between two letters decides how they are written. */
const JOINED_LETTER =
  /[[\p{L}\p{M}]&&[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mong}\p{scx=Nkoo}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}]]/v;
const JOINED_EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const STYLED = /[\p{Emoji}\p{Extended_Pictographic}]/u;

/**
 * Removes characters that a model reads and a person cannot see: hidden text, and text in another
 * order than it is shown. A single joiner stays where a script or an emoji needs it. The emoji
 * selector stays after an emoji. Every line ends in `\n`. Half characters become U+FFFD.
 * Contract: pure; linear; idempotent.
 */
export function dropInvisible(text: string): string {
  // Replace half characters first. Otherwise a removal between two halves could join them into a
  // hidden character.
  const whole = text.toWellFormed().replaceAll(LINE_END, "\n");
  return whole.replaceAll(INVISIBLE, (mark, at: number) => (isNeeded(whole, mark, at) ? mark : ""));
}

function isNeeded(text: string, mark: string, at: number): boolean {
  if (mark === EMOJI_STYLE) return STYLED.test(before(text, at));
  if (mark !== JOINER && mark !== NON_JOINER) return false;
  const left = before(text, at);
  const right = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  if (JOINED_LETTER.test(left) && JOINED_LETTER.test(right)) return true;
  const emoji = left === EMOJI_STYLE ? before(text, at - 1) : left;
  return mark === JOINER && JOINED_EMOJI.test(emoji) && JOINED_EMOJI.test(right);
}

/** Reads the character that ends at an index of well-formed text; empty at the start. */
function before(text: string, at: number): string {
  const isPair = at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return text.slice(isPair ? at - 2 : Math.max(0, at - 1), at);
}
