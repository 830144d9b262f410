import type { Budget, BudgetAmounts } from "../protocol/budget.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";

/** Calls that may start within a window. */
export interface RateLimit {
  readonly windowSeconds: number;
  readonly maxRequests: number;
}

/** What a dispatch is about to use up of its tenant. */
export interface Reservation {
  /** Names the invocation; reserving the same one again within a day takes nothing more. */
  readonly id: string;
  readonly toolId: string;
  readonly amounts: BudgetAmounts;
  readonly limits: BudgetAmounts;
  /** Length of the window that the limits count over; windows are fixed and begin at multiples of it. */
  readonly windowSeconds: number;
  readonly rateLimit?: RateLimit;
  /** The policy whose rules the call has passed. */
  readonly pin: PolicyPin;
}

export type ReservationAnswer =
  | { readonly kind: "reserved" }
  /** The policy is another one now; nothing was taken. Undefined: the tenant has none. */
  | { readonly kind: "policy_changed"; readonly pin: PolicyPin | undefined }
  | { readonly kind: "exhausted"; readonly budget: Budget }
  | { readonly kind: "rate_limited"; readonly retryAfterMs: number }
  /** The ledger could not be asked; nothing may be assumed. */
  | { readonly kind: "unavailable" };

/** What has been used up already, whether there was room or not. */
export type Charge = Pick<Reservation, "id" | "amounts" | "windowSeconds">;

/**
 * A tenant's budgets, shared by all of its runs.
 * Contract: never throws; a reservation is all or nothing and durable before it is answered. The
 * pin, revision and hash, is compared first, then the limits, then the rate. Amounts and limits are whole and not
 * negative; anything else answers `unavailable`.
 */
export interface BudgetLedger {
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  /** Counts what was used; the same id again counts nothing. What the ledger does not get is not counted. */
  charge(charge: Charge): Promise<void>;
}
