import type { Budget, BudgetAmounts } from "../protocol/budget/amounts.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";

/** Calls that may start within a window. */
export interface RateLimit {
  readonly windowSeconds: number;
  readonly maxRequests: number;
}

/** What a call is about to use up of its tenant. */
export interface Reservation {
  /** Names the call; reserving the same one again within a day takes nothing more. */
  readonly id: string;
  readonly toolId: string;
  /** The most that the call can use up. */
  readonly amounts: BudgetAmounts;
  /** As much of them as is of use, where less than all will do; what is not named is needed whole. */
  readonly least?: BudgetAmounts;
  readonly limits: BudgetAmounts;
  /** Length of the window that the limits count over; windows are fixed and begin at multiples of it. */
  readonly windowSeconds: number;
  readonly rateLimit?: RateLimit;
  /** The policy whose rules the call has passed. */
  readonly pin: PolicyPin;
  /** Absent: what is reserved is used, unless it is released. */
  readonly unsettled?: Unsettled;
}

/** What becomes of a reservation that is to be settled, and is not. */
export interface Unsettled {
  /** Time in which the call has surely ended. */
  readonly forMs: number;
  /** What it may have used all the same, and is counted for good. */
  readonly keeps: BudgetAmounts;
}

export type ReservationAnswer =
  /** `granted` answers whoever named a `least`. */
  | { readonly kind: "reserved"; readonly granted?: BudgetAmounts }
  /** The policy is another one now; nothing was taken. Undefined: the tenant has none. */
  | { readonly kind: "policy_changed"; readonly pin: PolicyPin | undefined }
  | { readonly kind: "exhausted"; readonly budget: Budget }
  | { readonly kind: "rate_limited"; readonly retryAfterMs: number }
  /** The ledger could not be asked; nothing may be assumed. */
  | { readonly kind: "unavailable" };

/**
 * A tenant's budgets, shared by all of its runs.
 * Contract: never throws; a reservation is all or nothing, counts from before it is answered and is durable
 * then. The pin, revision and hash, is compared first, then the limits, then the rate. Amounts and limits
 * are whole and not negative; anything else answers `unavailable`. A reservation is closed once, by the
 * first `settle` or `release`; what does not reach the ledger leaves it counted as it was.
 */
export interface BudgetLedger {
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  /** Counts what a call has used in place of what it had reserved, be it less or more. */
  settle(id: string, used: BudgetAmounts): Promise<void>;
  /** Gives back what a call had reserved: nothing happened. */
  release(id: string): Promise<void>;
}

/**
 * Counts what one key does, against abuse; it is no quota, for each place of the platform counts alone.
 * Contract: never throws; answers false when the key has done too much, true when that cannot be told.
 */
export interface RateLimiter {
  admit(key: string): Promise<boolean>;
}
