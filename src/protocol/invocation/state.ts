/** Where an invocation stands (seeds/004, "Idempotency State Model"). */
export const INVOCATION_STATES = [
  /** Its operation is reserved; once dispatched, its effect may have happened. */
  "PENDING",
  /** The effect happened, once. */
  "COMPLETED",
  /** Nothing happened; the same payload may be tried again under the same key. */
  "FAILED_RETRYABLE",
  /** Nothing happened, and the same payload is not tried again. */
  "FAILED_FINAL",
  /** The effect happened and was undone. */
  "COMPENSATED",
  /** Closed in doubt: nobody told in time whether the effect happened. */
  "EXPIRED",
] as const;
export type InvocationState = (typeof INVOCATION_STATES)[number];

const LEGAL_MOVES: { readonly [From in InvocationState]: readonly InvocationState[] } = {
  PENDING: ["COMPLETED", "FAILED_RETRYABLE", "FAILED_FINAL", "EXPIRED"],
  COMPLETED: ["COMPENSATED"],
  FAILED_RETRYABLE: ["PENDING", "FAILED_FINAL"],
  FAILED_FINAL: [],
  COMPENSATED: [],
  EXPIRED: [],
};

/** Tells whether a record may go from one state to another; staying where it is is no move. */
export function isLegalMove(from: InvocationState, to: InvocationState): boolean {
  return LEGAL_MOVES[from].includes(to);
}
