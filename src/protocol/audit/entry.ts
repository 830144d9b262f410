import type { ActorId, ApprovalId, ConnectionId, RunId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";

/** What was done or decided. */
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
 * One fact for the audit log: who, what, what was decided and on which grounds. No secret, and of a
 * payload only its hash and what redaction lets through.
 */
export interface AuditEntry {
  readonly action: AuditAction;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Absent where nobody acted: a time was up. */
  readonly actorId?: ActorId;
  readonly subjectId?: ActorId;
  readonly runId?: RunId;
  /** `inv_<number>`. */
  readonly invocationId?: string;
  readonly approvalId?: ApprovalId;
  readonly connectionId?: ConnectionId;
  readonly toolId?: string;
  readonly toolVersion?: string;
  /** Of what validated, gated and ran the call; see wrapper-version.ts. */
  readonly wrapperVersion?: string;
  readonly payloadHash?: string;
  readonly policyHash?: string;
  readonly policyRevision?: number;
  readonly decision?: string;
  readonly reason?: string;
  /** Gates of the last attempt, in their order. */
  readonly gates?: { readonly passed: readonly string[]; readonly refusedBy?: string };
  readonly outcome?: TaxonomyClass;
  readonly durationMs?: number;
  /** Redacted arguments and output. */
  readonly input?: JsonObject;
  readonly result?: JsonObject;
}

/**
 * The version of Interlock itself, for evidence of how a call was handled (seeds/004, AI-ENG-AB). That of a tool's
 * contract is locked, so its number says everything.
 */
export const WRAPPER_VERSION = "0.1.0";
