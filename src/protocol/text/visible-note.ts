/** Why a text may not be what it looks like. */
export const VISIBLE_NOTE_KINDS = [
  /** Characters that cannot be seen, or would mislead, are shown by their numbers. */
  "hidden",
  /** More marks on one letter than any script needs, or marks on none. */
  "stacked_marks",
  /** The same letters can be written in another way, which looks the same. */
  "not_nfc",
  /** One word has letters, or one number has digits, of several scripts that look alike. */
  "mixed_script",
  /** An address with letters beyond a to z. */
  "host",
  /** Some of it runs from right to left, so it may read in another order than it stands. */
  "right_to_left",
] as const;
export type VisibleNoteKind = (typeof VISIBLE_NOTE_KINDS)[number];

/** One remark on a text, with what gave rise to it. */
export interface VisibleNote {
  readonly kind: VisibleNoteKind;
  /** How often. */
  readonly count: number;
  /** `U+0430`: the characters, each once, the first 16 of them. */
  readonly codePoints: readonly string[];
}

/** Gathers remarks on one text, one for each kind. */
export interface NoteGatherer {
  add(kind: VisibleNoteKind, codePoints: Iterable<string>, times?: number): void;
  all(): readonly VisibleNote[];
}

const MAX_CODE_POINTS = 16;

/** Begins without any remark. */
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

/** Joins the remarks on several texts that are shown as one. */
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
