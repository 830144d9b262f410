import { HIDDEN } from "./hidden-characters.ts";
import { lazily } from "./lazily.ts";
import { noteMixedScripts } from "./mixed-script.ts";
import {
  gatherNotes,
  type NoteGatherer,
  type VisibleNote,
  formatCodePoint,
} from "./visible-note.ts";

/** Text that shows a person everything there is in it. */
export interface VisibleText {
  readonly text: string;
  readonly notes: readonly VisibleNote[];
}

/** Marks above and below one letter; no writing system needs more. */
const STACKED = String.raw`(?<=\p{M}{4})\p{M}+`;
/** A mark without a letter sits on what stands before it. */
const BASELESS = String.raw`(?<![\p{L}\p{N}\p{P}\p{S}\p{M}])\p{M}`;
/** Browsers may draw many spaces as one, or push what follows out of sight. */
const SPACES = "^ +|(?<= ) +| $";

const REST = `${HIDDEN.source}+|${STACKED}|${BASELESS}|${SPACES}`;

/**
 * Emoji that the standard lists are seen as one sign, whatever they are made of; they come first. Their list
 * takes long to compile, so only texts with what such emoji hide are held against it.
 */
const unseenBesideEmoji = lazily(() => new RegExp(String.raw`(\p{RGI_Emoji})|${REST}`, "gv"));
const unseen = lazily(() => new RegExp(`($^)|${REST}`, "gv"));
const IN_EMOJI = /\u200d|\u20e3|\ufe0f|\u{e007f}/u;

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Makes a text safe and honest for a person's eyes: what cannot be seen, or would mislead, is shown as
 * `⟦U+202E⟧`, repeated ones as `⟦U+200B×40⟧`; words that can be taken for others are noted.
 * Contract: pure; linear; never throws; nothing is dropped: two texts that differ are shown differently
 * (`fromVisible` takes it back), and nothing invisible is left but inside an emoji of the standard.
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

const hiddenRuns = lazily(() => new RegExp(`${HIDDEN.source}+`, "gv"));

function show(found: string, notes: NoteGatherer): string {
  const kind = /^\p{M}/u.test(found) && !HIDDEN.test(found) ? "stacked_marks" : "hidden";
  return markAll(found, (point, times) => notes.add(kind, [point], times));
}

type OnMark = (codePoint: string, times: number) => void;

/** Writes each character as a mark, equal neighbours as one. */
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

/** Jamo that make one syllable, and one letter with its marks: what normalisation composes. */
const COMPOSED = /[\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff]+|\P{M}\p{M}*/gsv;
/** What is marked of such a cluster; plain characters and whole syllables stay. */
const PIECE = /[[\u0080-\uabff\ud7b0-\u{10ffff}]--[⟦⟧]]+/gv;
const surplusMarks = lazily(() => new RegExp(STACKED, "gv"));

/**
 * Shows in pieces what looks like another text in its composed form, `e⟦U+0301⟧`.
 * Contract: long runs of marks are never normalised, because that takes the square of their length.
 */
function showDecomposed(text: string, shown: string, notes: NoteGatherer): string {
  const bounded = text.replaceAll(surplusMarks(), "");
  if (bounded.normalize("NFC") === bounded) return shown;
  return shown.replaceAll(COMPOSED, (cluster) => {
    if (cluster.normalize("NFC") === cluster) return cluster;
    return cluster.replaceAll(PIECE, (piece) =>
      markAll(piece, (point, times) => notes.add("not_nfc", [point], times)),
    );
  });
}

const MARK = /⟦U\+([0-9A-F]{4,6})(?:×(\d+))?⟧/g;

/** Takes the marks back. Contract: the inverse of `toVisible`. */
export function fromVisible(shown: string): string {
  return shown.replaceAll(MARK, (_, hex: string, times = "1") =>
    String.fromCodePoint(Number.parseInt(hex, 16)).repeat(Number(times)),
  );
}
