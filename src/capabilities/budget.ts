import type { Budget, BudgetAmounts } from "../protocol/budget/amounts.ts";
import type { CostCap } from "../protocol/policy/cost-cap.ts";
import type { ConsentClaim, ConsentGrant } from "../protocol/consent/consent.ts";
import type { SelectedTool } from "../protocol/policy/selector.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";

/** Calls that may start within a window. */
export interface RateLimit {
  readonly windowSeconds: number;
  readonly maxRequests: number;
}

/** What a call may use of its tenant's budgets. */
export interface Reservation {
  /** Names the call. Reserving the same id again within a day reserves nothing more. */
  readonly id: string;
  readonly toolId: string;
  /** The most that the call can use. */
  readonly amounts: BudgetAmounts;
  /** The smallest useful amounts. A budget that is not named here is needed in full. */
  readonly least?: BudgetAmounts;
  readonly limits: BudgetAmounts;
  /** Length of the window of the limits. Windows are fixed and begin at multiples of it. */
  readonly windowSeconds: number;
  readonly rateLimit?: RateLimit;
  /** Present when the call costs money that caps of its tool count. */
  readonly capped?: CappedCost;
  /** Present where a lasting consent may answer the call. A reservation uses it once. */
  readonly consent?: ConsentClaim;
  /** The consent that the person gave with their vote on this call; the reservation stores it. */
  readonly grant?: ConsentGrant;
  /** The policy that the call has passed. */
  readonly pin: PolicyPin;
  /** Absent: the reserved amounts count as used, unless they are released. */
  readonly unsettled?: Unsettled;
}

/** A tool whose calls cost money, and the caps that count it. */
export interface CappedCost {
  readonly tool: SelectedTool;
  readonly caps: readonly CostCap[];
}

/** How a reservation closes when nobody settles it. */
export interface Unsettled {
  /** Time after which the call has ended for certain. Unit: milliseconds. */
  readonly forMs: number;
  /** Amounts that the call may have used; they stay counted. */
  readonly keeps: BudgetAmounts;
}

export type ReservationAnswer =
  /**
   * `granted` is present when the reservation has `least`; `consentId` names the consent that
   * answers the call, if one does.
   */
  | { readonly kind: "reserved"; readonly granted?: BudgetAmounts; readonly consentId?: string }
  /** The policy has changed; nothing was reserved. `pin` undefined: the tenant has no policy. */
  | { readonly kind: "policy_changed"; readonly pin: PolicyPin | undefined }
  | { readonly kind: "exhausted"; readonly budget: Budget }
  /** The consent that the reservation names does not cover the call any more. */
  | { readonly kind: "no_consent" }
  /** A cap of the cost leaves too little. */
  | { readonly kind: "capped" }
  | { readonly kind: "rate_limited"; readonly retryAfterMs: number }
  /** The ledger did not answer. It may have reserved or not. */
  | { readonly kind: "unavailable" };

/**
 * Holds the budgets of a tenant, shared by all of its runs.
 * Contract: never throws. A reservation is all or nothing, and durable before it is answered. The
 * ledger compares the pin (revision and hash) first, then the limits, then the caps, then the
 * consent, then the rate. Amounts and limits are whole and not negative; others answer
 * `unavailable`. The first `settle` or `release`
 * closes a reservation. When neither reaches the ledger, the reserved amounts stay counted.
 */
export interface BudgetLedger {
  reserve(reservation: Reservation): Promise<ReservationAnswer>;
  /** Answers what `reserve` would answer now. Contract: reserves and counts nothing. */
  peek(reservation: Reservation): Promise<ReservationAnswer>;
  /** Replaces the reserved amounts by the used ones, which may be lower or higher. */
  settle(id: string, used: BudgetAmounts): Promise<void>;
  /** Gives the reserved amounts back, because nothing happened. */
  release(id: string): Promise<void>;
}

/**
 * Limits the requests of one key, against abuse.
 * Contract: never throws; answers false when the key is over its limit, true when that is unknown.
 * Limit: not a quota, because each location of the platform counts alone.
 */
export interface RateLimiter {
  admit(key: string): Promise<boolean>;
}
