/** Sorts words alike wherever it runs: by code unit, never by language. */
export function sorted<Word extends string>(words: Iterable<Word>): readonly Word[] {
  return [...words].sort((a, b) => (a < b ? -1 : Number(a > b)));
}
