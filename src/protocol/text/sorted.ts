/**
 * Sorts texts by code unit, so that the order is the same on every machine and in every language.
 */
export function sorted<Word extends string>(words: Iterable<Word>): readonly Word[] {
  return [...words].sort((a, b) => (a < b ? -1 : Number(a > b)));
}
