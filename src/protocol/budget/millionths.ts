const MILLIONTHS = 1_000_000;

/** Turns an amount of money into whole millionths, rounded up. */
export function toMillionths(amount: number): number {
  const millionths = amount * MILLIONTHS;
  return isWholeMillionths(amount) ? Math.round(millionths) : Math.ceil(millionths);
}

/** Tells whether an amount has six decimals at most. Compares decimals, for a product of binary fractions is off by a little. */
export function isWholeMillionths(amount: number): boolean {
  return Number(amount.toFixed(6)) === amount;
}
