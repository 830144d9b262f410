/**
 * Measures text in UTF-8 bytes without encoding it. Each half of a surrogate pair counts two bytes,
 * so the sum over fragments equals the length of the whole, also when a pair is split.
 * Contract: pure and linear.
 */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}
