/** Tells whether a UTF-16 code unit is the first half of a character; text is never cut after one. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
