import type { ActorId, ApprovalId, ConnectionId, RunId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";

/** Actions and decisions that the audit log records. */
export const AUDIT_ACTIONS = [
  "run.started",
  "run.cancelled",
  "run.ended",
  "call.ended",
  "approval.requested",
  "approval.voted",
  "approval.edited",
  "approval.closed",
  "approval.consumed",
  "outcome.settled",
  "policy.changed",
  "connection.stored",
  "connection.removed",
  "embed_token.minted",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * One fact for the audit log: who did what, what was decided and why. It holds no secret. Of a
 * payload it holds the hash and the redacted values only.
 */
export interface AuditEntry {
  readonly action: AuditAction;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Absent when a time limit caused the action. */
  readonly actorId?: ActorId;
  readonly subjectId?: ActorId;
  readonly runId?: RunId;
  /** `inv_<number>`. */
  readonly invocationId?: string;
  readonly approvalId?: ApprovalId;
  readonly connectionId?: ConnectionId;
  readonly toolId?: string;
  readonly toolVersion?: string;
  /** WRAPPER_VERSION of the code that validated, gated and ran the call. */
  readonly wrapperVersion?: string;
  readonly payloadHash?: string;
  readonly policyHash?: string;
  readonly policyRevision?: number;
  readonly decision?: string;
  readonly reason?: string;
  /** Gates of the last attempt, in order. */
  readonly gates?: { readonly passed: readonly string[]; readonly refusedBy?: string };
  readonly outcome?: TaxonomyClass;
  readonly durationMs?: number;
  /** Redacted arguments and output. */
  readonly input?: JsonObject;
  readonly result?: JsonObject;
}

/**
 * Version of Interlock itself: evidence of the code that handled a call (seeds/004, AI-ENG-AB). A
 * tool's contract is locked, so the tool's own version is evidence enough.
 */
export const WRAPPER_VERSION = "0.1.0";
