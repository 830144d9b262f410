/**
 * Counts what one key does, against abuse; it is no quota, for each place of the platform counts alone.
 * Contract: never throws; answers false when the key has done too much, true when that cannot be told.
 */
export interface RateLimiter {
  admit(key: string): Promise<boolean>;
}
