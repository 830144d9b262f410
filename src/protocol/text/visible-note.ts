/** Why a text may not be what it looks like. */
export const VISIBLE_NOTE_KINDS = [
  /** Hidden or misleading characters. The text shows their code points. */
  "hidden",
  /** More marks on one letter than any script needs, or marks on none. */
  "stacked_marks",
  /** Letters in an unusual form, which look the same as the usual one. */
  "not_nfc",
  /** One word has letters, or one number has digits, of several scripts that look alike. */
  "mixed_script",
  /** A host with letters beyond a to z. */
  "host",
  /** Some text runs from right to left, so its reading order may differ from its stored order. */
  "right_to_left",
] as const;
export type VisibleNoteKind = (typeof VISIBLE_NOTE_KINDS)[number];

/** One note about a text, with the characters that caused it. */
export interface VisibleNote {
  readonly kind: VisibleNoteKind;
  /** How often. */
  readonly count: number;
  /** The first 16 distinct characters, written as `U+0430`. */
  readonly codePoints: readonly string[];
}

/** Gathers the notes about one text, one for each kind. */
export interface NoteGatherer {
  add(kind: VisibleNoteKind, codePoints: Iterable<string>, times?: number): void;
  all(): readonly VisibleNote[];
}

const MAX_CODE_POINTS = 16;

/** Makes an empty gatherer. */
export function gatherNotes(): NoteGatherer {
  const found = new Map<VisibleNoteKind, { count: number; readonly points: Set<string> }>();
  return {
    add(kind, codePoints, times = 1) {
      const note = found.get(kind) ?? { count: 0, points: new Set<string>() };
      found.set(kind, note);
      note.count += times;
      for (const point of codePoints) {
        if (note.points.size >= MAX_CODE_POINTS) break;
        note.points.add(point);
      }
    },
    all: () =>
      VISIBLE_NOTE_KINDS.flatMap((kind) => {
        const note = found.get(kind);
        return note ? [{ kind, count: note.count, codePoints: [...note.points] }] : [];
      }),
  };
}

/** Joins the notes about several texts that are shown together. */
export function joinNotes(...lists: readonly (readonly VisibleNote[])[]): readonly VisibleNote[] {
  const notes = gatherNotes();
  for (const { kind, codePoints, count } of lists.flat()) notes.add(kind, codePoints, count);
  return notes.all();
}

/** Writes a character as `U+00E9`. */
export function formatCodePoint(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, "0")}`;
}
