import { lazily } from "./lazily.ts";
import { type NoteGatherer, formatCodePoint } from "./visible-note.ts";

/** Scripts whose letters are taken for Latin ones. */
const SCRIPTS = ["Cyrl", "Grek", "Armn", "Cher", "Copt", "Lisu", "Dsrt"].map(
  (name) => String.raw`\p{scx=${name}}`,
);
const scripts = lazily(() => SCRIPTS.map((script) => new RegExp(script, "u")));
const foreignLetter = lazily(
  () => new RegExp(String.raw`[[\p{L}--\p{scx=Latn}]&&[${SCRIPTS.join("")}]]`, "gv"),
);
const LATIN = /[\p{L}&&\p{Script=Latin}]/v;

/**
 * Letters of those scripts that can be read as a Latin one (Unicode UTS 39, confusables, the letters that
 * common fonts draw the same; read 2026-11-21). Of Coptic, Lisu and Deseret it is most of them.
 */
const READS_AS_LATIN =
  /^[аекорсухѕіјԁһӏԛԝѵүҽАВЕКМНОРСТУХЅІЈҮԚԜӀѴοναικρυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿօոսհզցքյԼՍՏՕᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏚᏟᏢᏞᏦᏙᏔᏴᏒ\p{scx=Copt}\p{scx=Lisu}\p{scx=Dsrt}]$/v;
/** Latin letters of phonetic and old spellings that can be read as others. */
const ODD_LATIN = /[ɑɡɩɪɴʀʏʙʜʟſƅᴀ-ᴢꞓꬱ-ꭤ]/v;
/** Signs that can be read as the ones which part an address, where they stand between its letters. */
const ODD_SIGN =
  /(?<=[\w])[\u01c3\u0589\u2024\u2044\u2215\u2236\u2571\u29f8\u3002\ua789\uff0e\uff0f\uff1a\uff20\uff61](?=\w)/gv;
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/gv;

const TOKEN = /[\p{L}\p{M}\p{N}._\-]+/gv;
const WORD = /[\p{L}\p{M}\p{N}]+/gv;
const ASCII = /^\p{ASCII}*$/u;
/** A word of so many letters is hardly made of lookalikes by chance. */
const TELLING_LETTERS = 4;

/** Notes words that can be taken for others. Contract: linear; takes text without hidden characters. */
export function findLookalikes(text: string, notes: NoteGatherer): void {
  if (ASCII.test(text)) return;
  for (const [sign] of text.matchAll(ODD_SIGN)) note(notes, "lookalike", [sign]);
  const turned = text.match(RIGHT_TO_LEFT);
  if (turned) note(notes, "right_to_left", turned);
  const speaksIt = (text.match(foreignLetter()) ?? []).some(
    (letter) => !READS_AS_LATIN.test(letter),
  );
  for (const [token] of text.matchAll(TOKEN)) {
    if (!ASCII.test(token)) judgeToken(token, { notes, speaksIt });
  }
}

interface Judged {
  readonly notes: NoteGatherer;
  /** The text has letters of those scripts that cannot be read as Latin, so it may mean the others. */
  readonly speaksIt: boolean;
}

function judgeToken(token: string, judged: Judged): void {
  const isHost = /[\p{L}\p{N}]\.\p{L}/u.test(token);
  if (isHost) note(judged.notes, "host", charactersBeyondAscii(token));
  for (const [word] of token.matchAll(WORD)) {
    if (!ASCII.test(word)) judgeWord(word, { ...judged, speaksIt: judged.speaksIt && !isHost });
  }
}

function judgeWord(word: string, { notes, speaksIt }: Judged): void {
  const foreign = word.match(foreignLetter()) ?? [];
  const odd = charactersBeyondAscii(word).filter(readsAsAscii);
  if (isMixed(word, foreign)) note(notes, "mixed_script", foreign);
  else if (foreign.length > 0 && foreign.length === (word.match(/\p{L}/gu) ?? []).length) {
    const isTelling = !speaksIt || foreign.length >= TELLING_LETTERS;
    const isAlike = foreign.every((letter) => READS_AS_LATIN.test(letter));
    if (isTelling && isAlike) note(notes, "lookalike", foreign);
  }
  if (odd.length > 0) note(notes, "lookalike", odd);
  const digits = word.match(/\p{Nd}/gu) ?? [];
  const otherDigits = digits.filter((digit) => !ASCII.test(digit));
  const areMixed = otherDigits.length > 0 && otherDigits.length < digits.length;
  if (areMixed) note(notes, "mixed_script", otherDigits);
}

/** Tells whether a word has letters of more than one of the scripts. */
function isMixed(word: string, foreign: readonly string[]): boolean {
  const [first] = foreign;
  if (first === undefined) return false;
  if (LATIN.test(word)) return true;
  const same = scripts().find((script) => script.test(first));
  return same !== undefined && foreign.some((letter) => !same.test(letter));
}

/** Wide, mathematical, circled and ligated forms of plain characters, and letters of odd spellings. */
function readsAsAscii(character: string): boolean {
  if (ODD_LATIN.test(character)) return true;
  const isLatin1 = (character.codePointAt(0) ?? 0) <= 0xff;
  return !isLatin1 && /^[\x21-\x7e]+$/.test(character.normalize("NFKC"));
}

function charactersBeyondAscii(text: string): string[] {
  return Array.from(text).filter((character) => !ASCII.test(character));
}

function note(
  notes: NoteGatherer,
  kind: "lookalike" | "mixed_script" | "host" | "right_to_left",
  characters: readonly string[],
): void {
  notes.add(kind, characters.map(formatCodePoint));
}
