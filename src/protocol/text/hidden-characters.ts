/**
 * What leaves no mark of its own, reads in another order than it stands, breaks a line, covers its
 * neighbour or has no agreed look: controls, format and unassigned characters, selectors of variants,
 * spaces but the plain one, enclosing and overlaid marks, blanks that count as letters; and the bracket
 * that a mark begins with, so that nobody can write one.
 */
export const HIDDEN =
  /[\u{16fe4}\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}[\p{Zs}--[ ]]\u0334-\u0338\u20d0-\u20ff\u2800\ufffc\u{1d159}⟦]/v;

/** Writes JSON that can be edited: what cannot be seen stands as `\u` escapes, which mean the same. */
export function toEditableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return text.replaceAll(/[^\n\x20-\x7e]/gv, (character) =>
    HIDDEN.test(character) && character !== "⟦" ? escapeUnits(character) : character,
  );
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
