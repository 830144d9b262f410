import { lazyPattern } from "./lazily.ts";

/**
 * Source of the pattern for characters that a person cannot see or may misread. Such a character
 * has no look of its own, changes the reading order, breaks a line, covers its neighbour or has no
 * agreed look: controls, format and unassigned characters, variant selectors, every space except
 * the plain one, enclosing and overlaid marks, and blanks that count as letters. The pattern also
 * matches the bracket `⟦` that starts an escape, so that no text can fake an escape.
 */
export const HIDDEN = String.raw`[\u{16fe4}\p{Default_Ignorable_Code_Point}\p{C}\p{Zl}\p{Zp}[\p{Zs}--[ ]]\u0334-\u0338\u20d0-\u20ff\u2800\ufffc\u{1d159}\u27e6]`;

/** Matches one character of `HIDDEN`. */
export const hiddenCharacter = lazyPattern(HIDDEN, "v");

/**
 * Writes JSON for an editor. Hidden characters become `\u` escapes, which mean the same in JSON.
 */
export function toEditableJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return text.replaceAll(/[^\n\x20-\x7e]/gv, (character) =>
    hiddenCharacter().test(character) && character !== "⟦" ? escapeUnits(character) : character,
  );
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
