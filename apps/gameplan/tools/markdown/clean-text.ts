/**
 * Drops what no document needs: a byte order mark, control characters, halves of characters. Lines
 * end with a line feed alone. Contract: pure; linear.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[^\n\t -~\u00a0-\ufefe\uff00-\uffff]/g, "");
}
