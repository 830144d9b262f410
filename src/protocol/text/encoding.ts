const UTF8 = new TextEncoder();

/** Measures a text in UTF-8 bytes. */
export function utf8Bytes(text: string): number {
  return UTF8.encode(text).byteLength;
}

/**
 * Tells whether a UTF-16 code unit is the first half of a character. Text is never cut after one.
 */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
