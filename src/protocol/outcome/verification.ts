import type { ActorId } from "../identity/ids.ts";
import type { GivenObject } from "../json/author-data.ts";
import type { JsonObject } from "../json/value.ts";

/** How the verification of a completed write ended. */
export type VerificationOutcome = "verified" | "mismatch" | "unknown";

/** Answer of a contract's `verify` about the state after a write. */
export type Verification =
  | { readonly kind: "verified" }
  /** The state is another one; `found` is the state that was read. */
  | { readonly kind: "mismatch"; readonly found?: GivenObject }
  | { readonly kind: "unknown" };

/**
 * The state that a write should lead to (seeds/004, `target_state_reference` and `expected_state`).
 */
export interface ExpectedState<State = JsonObject> {
  /** Names the target, such as `tickets/T-1`. */
  readonly reference: string;
  readonly state: State;
}

/** A verification that the end of a call asks for. It never leaves the run's object. */
export interface PlannedVerification {
  /** Unit: Unix milliseconds. */
  readonly dueAtMs: number;
  /** Unredacted; null when the contract could not tell it. */
  readonly expected: ExpectedState | null;
}

/** How far the verification of a call has come. */
export interface VerificationRecord {
  /** How often the contract was asked. */
  readonly attempts: number;
  /** The next attempt. Unit: Unix milliseconds. */
  readonly nextAtMs?: number;
  /** Present once the verification has ended, like `atMs`. */
  readonly outcome?: VerificationOutcome;
  readonly atMs?: number;
  /** Why the outcome is unknown. */
  readonly reason?: UnverifiedReason;
  /** The state that was read, redacted; present for some mismatches. */
  readonly found?: JsonObject;
  /** The model was told of the mismatch. */
  readonly told?: true;
  /** Until when an operator may review the mismatch. Unit: Unix milliseconds. */
  readonly reviewUntilMs?: number;
  /** The operator who reviewed the mismatch. */
  readonly reviewedBy?: ActorId;
}

/** Why a verification could not tell. */
export type UnverifiedReason =
  /** The contract could not tell which state to expect. */
  | "no_expected_state"
  /** No attempt got an answer. */
  | "no_answer"
  /** The write was undone. */
  | "compensated"
  /** The data of the run was deleted first. */
  | "retention";
