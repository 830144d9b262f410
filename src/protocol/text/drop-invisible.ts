import { lazyPattern } from "./lazily.ts";

/**
 * Characters that have no look or change the direction of others: default-ignorable characters
 * (zero-width, direction controls, fillers, variant selectors, tags), controls, and annotation
 * marks.
 */
const invisible = lazyPattern(
  String.raw`[\p{Default_Ignorable_Code_Point}[\p{Cc}--[\n\t]]\uFFF9-\uFFFB]`,
  "gv",
);
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const LINE_END = /\r\n?|[\u2028\u2029]/g;

const SOFT_HYPHEN = "\u00ad";
const NON_JOINER = "\u200c";
const JOINER = "\u200d";
const EMOJI_STYLE = "\ufe0f";

/** Scripts in which a joiner between two letters decides how they are written. */
const JOINING_SCRIPTS =
  "Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr"
    .split(" ")
    .map((name) => String.raw`\p{scx=${name}}`)
    .join("");
const joinedLetter = lazyPattern(String.raw`[[\p{L}\p{M}]&&[${JOINING_SCRIPTS}]]`, "v");
const joinedEmoji = lazyPattern(String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}]`, "u");
const styledEmoji = lazyPattern(String.raw`[\p{Emoji}\p{Extended_Pictographic}]`, "u");

/**
 * Removes characters that a model reads and a person cannot see: hidden text, and text in another
 * order than it is shown. A single joiner stays where a script or an emoji needs it. The emoji
 * selector stays after an emoji. Every line ends in `\n`. Half characters become U+FFFD.
 * Contract: pure; linear; idempotent. `onHidden` is called for each hidden text.
 */
export function dropInvisible(text: string, onHidden: () => void = () => {}): string {
  if (PLAIN.test(text)) return text;
  // Replace half characters first. Otherwise a removal between two halves could join them into a
  // hidden character.
  const whole = text.toWellFormed().replaceAll(LINE_END, "\n");
  let end = -1;
  return whole.replaceAll(invisible(), (mark, at: number) => {
    if (isNeeded(whole, mark, at)) return mark;
    // A run of them is one hidden text. Soft hyphens stand in honest pages.
    if (at !== end && mark !== SOFT_HYPHEN) onHidden();
    end = at + mark.length;
    return "";
  });
}

function isNeeded(text: string, mark: string, at: number): boolean {
  if (mark === EMOJI_STYLE) return styledEmoji().test(before(text, at));
  if (mark !== JOINER && mark !== NON_JOINER) return false;
  const left = before(text, at);
  const right = String.fromCodePoint(text.codePointAt(at + 1) ?? 0);
  if (joinedLetter().test(left) && joinedLetter().test(right)) return true;
  const emoji = left === EMOJI_STYLE ? before(text, at - 1) : left;
  return mark === JOINER && joinedEmoji().test(emoji) && joinedEmoji().test(right);
}

/** Reads the character that ends at an index of well-formed text; empty at the start. */
function before(text: string, at: number): string {
  const isPair = at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return text.slice(isPair ? at - 2 : Math.max(0, at - 1), at);
}
