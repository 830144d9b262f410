/** States of an invocation (seeds/004, "Idempotency State Model"). */
export const INVOCATION_STATES = [
  /** The operation is reserved. Once it is dispatched, its effect may have happened. */
  "PENDING",
  /** The effect happened, once. */
  "COMPLETED",
  /** Nothing happened. The same payload may be retried under the same key. */
  "FAILED_RETRYABLE",
  /** Nothing happened. The same payload is not retried. */
  "FAILED_FINAL",
  /** The effect happened, and a compensation undid it. */
  "COMPENSATED",
  /** Closed with an unknown outcome: nobody resolved it in time. */
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

/** Tells whether a record may move from one state to another. Staying in a state is not a move. */
export function isLegalMove(from: InvocationState, to: InvocationState): boolean {
  return LEGAL_MOVES[from].includes(to);
}
