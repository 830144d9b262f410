import { lazily, lazyPattern } from "./lazily.ts";
import { formatCodePoint, type NoteGatherer } from "./visible-note.ts";

/** Scripts with letters that people read as Latin ones. */
const SCRIPTS = ["Cyrl", "Grek", "Armn", "Cher", "Copt", "Lisu", "Dsrt"].map(
  (name) => String.raw`\p{scx=${name}}`,
);
const scripts = lazily(() => SCRIPTS.map((script) => new RegExp(script, "u")));
const foreignLetter = lazyPattern(String.raw`[[\p{L}--\p{scx=Latn}]&&[${SCRIPTS.join("")}]]`, "gv");
const latinLetter = lazyPattern(String.raw`[\p{L}&&\p{Script=Latin}]`, "v");
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gv;

const tokens = lazyPattern(String.raw`[\p{L}\p{M}\p{N}._\-]+`, "gv");
const words = lazyPattern(String.raw`[\p{L}\p{M}\p{N}]+`, "gv");
const dotInHost = lazyPattern(String.raw`[\p{L}\p{N}]\.\p{L}`, "u");
const decimalDigit = lazyPattern(String.raw`\p{Nd}`, "gu");
const ASCII = /^[\0-\x7f]*$/;

/**
 * Notes words that mix scripts, hosts beyond ASCII and text that runs from right to left.
 * Limit: a word whose letters are all of one foreign script, such as `рау`, is not noted.
 * Contract: linear; takes text without hidden characters.
 */
export function noteMixedScripts(text: string, notes: NoteGatherer): void {
  if (ASCII.test(text)) return;
  const turned = text.match(RIGHT_TO_LEFT);
  if (turned) add(notes, "right_to_left", turned);
  for (const [token] of text.matchAll(tokens())) {
    if (ASCII.test(token)) continue;
    if (isHost(token)) add(notes, "host", charactersBeyondAscii(token));
    for (const [word] of token.matchAll(words())) noteWord(word, notes);
  }
}

function isHost(token: string): boolean {
  return dotInHost().test(token);
}

function noteWord(word: string, notes: NoteGatherer): void {
  if (ASCII.test(word)) return;
  const foreign = word.match(foreignLetter()) ?? [];
  if (hasMixedLetters(word, foreign)) add(notes, "mixed_script", foreign);
  const digits = word.match(decimalDigit()) ?? [];
  const otherDigits = digits.filter((digit) => !ASCII.test(digit));
  const hasMixedDigits = otherDigits.length > 0 && otherDigits.length < digits.length;
  if (hasMixedDigits) add(notes, "mixed_script", otherDigits);
}

/** Tells whether a word has foreign letters beside Latin ones, or of two foreign scripts. */
function hasMixedLetters(word: string, foreign: readonly string[]): boolean {
  const [first] = foreign;
  if (first === undefined) return false;
  if (latinLetter().test(word)) return true;
  const same = scripts().find((script) => script.test(first));
  return same !== undefined && foreign.some((letter) => !same.test(letter));
}

function charactersBeyondAscii(text: string): string[] {
  return Array.from(text).filter((character) => !ASCII.test(character));
}

function add(
  notes: NoteGatherer,
  kind: "mixed_script" | "host" | "right_to_left",
  characters: readonly string[],
): void {
  notes.add(kind, characters.map(formatCodePoint));
}
