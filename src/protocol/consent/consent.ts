import type { ActorId, ApprovalId, RunId } from "../identity/ids.ts";
import type { ConsentReach, LastingChoice } from "./lasting.ts";

/** A consent that a reservation stores: what the person gave with their vote on one approval. */
export interface ConsentGrant extends LastingChoice {
  readonly id: string;
  readonly approvalId: ApprovalId;
  readonly person: ActorId;
  /** Keyed hash of everything that has to be the same in each call; see `printsOf`. */
  readonly print: string;
  readonly conversationId: RunId;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly assistantId?: string;
}

/** A call that a consent may answer, and how far policy lets one reach now. */
export interface ConsentClaim {
  /** The consent whose vote the approval of the call has. Absent: any that covers the call. */
  readonly id?: string;
  /** The hashes of consents that cover the call. */
  readonly prints: readonly string[];
  readonly conversationId: RunId;
  readonly within: ConsentReach;
  readonly maxCalls: number;
  readonly maxSeconds: number;
}

/** `used_up`: it has answered all its calls. A consent whose time is over is not listed. */
export type ConsentState = "active" | "used_up" | "revoked";

/** A consent as people see it. Times are ISO 8601, UTC. */
export interface ConsentView {
  readonly id: string;
  readonly state: ConsentState;
  readonly person: ActorId;
  readonly toolId: string;
  readonly toolVersion: string;
  readonly assistantId?: string;
  /** Present for a consent that holds in one conversation. */
  readonly conversationId?: RunId;
  /** Arguments that must be as in the approved call; absent: all of them. */
  readonly sameFields?: readonly string[];
  readonly calls: number;
  readonly used: number;
  readonly grantedAt: string;
  readonly until: string;
  /** Shows the call to which the person consented. */
  readonly approvalId: ApprovalId;
  readonly revokedAt?: string;
}

/** Names the consent that was given with the vote on an approval. */
export function consentIdOf(approvalId: ApprovalId): string {
  return approvalId.replace(/^appr_/, "cons_");
}
