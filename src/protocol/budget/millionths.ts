const MILLIONTHS = 1_000_000;

/** Converts an amount of money into whole millionths, rounded up. */
export function toMillionths(amount: number): number {
  const millionths = amount * MILLIONTHS;
  return isWholeMillionths(amount) ? Math.round(millionths) : Math.ceil(millionths);
}

/**
 * Tells whether an amount has at most six decimals. It compares decimals, because a product of
 * binary fractions is slightly wrong.
 */
export function isWholeMillionths(amount: number): boolean {
  return Number(amount.toFixed(6)) === amount;
}
