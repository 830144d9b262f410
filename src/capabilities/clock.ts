/**
 * Tells the time.
 * Contract: `nowMs` never goes backwards by more than the platform's own clock does.
 */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}
