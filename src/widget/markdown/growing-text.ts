/** Text that arrives in pieces. Versions of one text share the list of its pieces. */
export interface GrowingText {
  /** Read only `count` of them: a later version may have added more. */
  readonly pieces: readonly string[];
  readonly count: number;
  /** No piece follows. */
  readonly isEnded: boolean;
}

export const EMPTY_TEXT: GrowingText = { pieces: [], count: 0, isEnded: false };

/**
 * Appends a piece.
 * Contract: pure for its caller; the work depends on the piece alone, not on the text before it.
 */
export function appendText(text: GrowingText, piece: string): GrowingText {
  // A version that is not the newest gets a list of its own.
  const isNewest = text.count > 0 && text.pieces.length === text.count;
  const pieces = isNewest ? (text.pieces as string[]) : text.pieces.slice(0, text.count);
  pieces.push(piece);
  return { pieces, count: pieces.length, isEnded: false };
}

/** Says that the text is whole. */
export function endText(text: GrowingText): GrowingText {
  return { ...text, isEnded: true };
}

/** Returns the pieces from number `from` on, as one text. */
export function joinText(text: GrowingText, from = 0): string {
  return text.pieces.slice(from, text.count).join("");
}
