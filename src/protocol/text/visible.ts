import { HIDDEN, hiddenCharacter } from "./hidden-characters.ts";
import { lazyPattern } from "./lazily.ts";
import { noteMixedScripts } from "./mixed-script.ts";
import {
  gatherNotes,
  type NoteGatherer,
  type VisibleNote,
  formatCodePoint,
} from "./visible-note.ts";

/** Text in which a person sees every character. */
export interface VisibleText {
  readonly text: string;
  readonly notes: readonly VisibleNote[];
}

/** A fifth or later mark on one letter. No writing system needs more than four. */
const STACKED = String.raw`(?<=\p{M}{4})\p{M}+`;
/** A mark without a letter of its own. It would sit on the character before it. */
const BASELESS = String.raw`(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}`;
/**
 * Spaces at the ends and repeated ones. Browsers draw many as one, or push later text out of sight.
 */
const SPACES = "^ +|(?<= ) +| $";

const REST = `${HIDDEN}+|${STACKED}|${BASELESS}|${SPACES}`;

/**
 * Matches the standard's emoji first: each is one visible sign, although it holds hidden
 * characters. The emoji list takes long to compile, so only texts with such hidden characters use
 * it.
 */
const unseenBesideEmoji = lazyPattern(String.raw`(\p{RGI_Emoji})|${REST}`, "gv");
const unseen = lazyPattern(`($^)|${REST}`, "gv");
const IN_EMOJI = /\u200d|\u20e3|\ufe0f|\u{e007f}/u;

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Makes a text safe for people to read. A hidden or misleading character becomes `⟦U+202E⟧`;
 * repeated ones become `⟦U+200B×40⟧`. Notes warn about words that mix scripts.
 * Contract: pure; linear; never throws. It drops nothing: two different texts give different
 * results, and `fromVisible` restores the text. Hidden characters remain only inside the standard's
 * emoji.
 */
export function toVisible(text: string): VisibleText {
  if (PLAIN.test(text) && !text.includes("  ")) return { text, notes: [] };
  const notes = gatherNotes();
  const pattern = IN_EMOJI.test(text) ? unseenBesideEmoji() : unseen();
  const shown = text.replaceAll(pattern, (found, emoji?: string) => emoji ?? show(found, notes));
  const whole = showDecomposed(text, shown, notes);
  noteMixedScripts(text.replaceAll(hiddenRuns(), ""), notes);
  return { text: whole, notes: notes.all() };
}

const hiddenRuns = lazyPattern(`${HIDDEN}+`, "gv");

const markFirst = lazyPattern(String.raw`^\p{M}`, "u");

function show(found: string, notes: NoteGatherer): string {
  const kind =
    markFirst().test(found) && !hiddenCharacter().test(found) ? "stacked_marks" : "hidden";
  return markAll(found, (point, times) => notes.add(kind, [point], times));
}

type OnMark = (codePoint: string, times: number) => void;

/** Writes each character as an escape, and equal neighbours as one escape. */
function markAll(text: string, onMark: OnMark): string {
  const characters = Array.from(text);
  const marks: string[] = [];
  for (let at = 0; at < characters.length;) {
    const character = characters[at] ?? "";
    let next = at + 1;
    while (characters[next] === character) next++;
    const point = formatCodePoint(character);
    onMark(point, next - at);
    marks.push(next - at === 1 ? `⟦${point}⟧` : `⟦${point}×${next - at}⟧`);
    at = next;
  }
  return marks.join("");
}

/** What normalisation composes: the jamo of one syllable, or one letter with its marks. */
const composed = lazyPattern(
  String.raw`[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]+|\P{M}\p{M}*`,
  "gsv",
);
/** Parts of a cluster that are escaped. Plain characters and whole syllables stay. */
const PIECE = /[[\u0080-\uabff\ud7b0-\u{10ffff}]--[\u27e6\u27e7]]+/gv;
const surplusMarks = lazyPattern(STACKED, "gv");

/**
 * Escapes decomposed text, which looks the same as its composed form: `e⟦U+0301⟧`.
 * Contract: it never normalises long runs of marks, because that takes the square of their length.
 */
function showDecomposed(text: string, shown: string, notes: NoteGatherer): string {
  const bounded = text.replaceAll(surplusMarks(), "");
  if (bounded.normalize("NFC") === bounded) return shown;
  return shown.replaceAll(composed(), (cluster) => {
    if (cluster.normalize("NFC") === cluster) return cluster;
    return cluster.replaceAll(PIECE, (piece) =>
      markAll(piece, (point, times) => notes.add("not_nfc", [point], times)),
    );
  });
}

const MARK = /\u27e6U\+([0-9A-F]{4,6})(?:\u00d7(\d+))?\u27e7/g;

/** Restores the original text. Contract: the inverse of `toVisible`. */
export function fromVisible(shown: string): string {
  return shown.replaceAll(MARK, (_, hex: string, times = "1") =>
    String.fromCodePoint(Number.parseInt(hex, 16)).repeat(Number(times)),
  );
}
