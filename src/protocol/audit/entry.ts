import type { ActorId, ApprovalId, ConnectionId, ProviderId, RunId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { EscalationReason } from "../escalation/escalation.ts";
import type { Sources } from "../label/source.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";
import type { ErasedCounts } from "../person/erasure.ts";

/** Actions and decisions that the audit log records. */
export const AUDIT_ACTIONS = [
  "run.started",
  "run.cancelled",
  "run.ended",
  "model.changed",
  "call.ended",
  "output.read",
  "model.failed",
  "calls.refused",
  "approval.requested",
  "approval.voted",
  "approval.refused",
  "approval.edited",
  "approval.answered",
  "approval.closed",
  "approval.consumed",
  "consent.granted",
  "consent.revoked",
  "outcome.resolved",
  "undo.started",
  "undo.ended",
  "verification.ended",
  "verification.reviewed",
  "escalation.opened",
  "escalation.taken",
  "escalation.released",
  "escalation.settled",
  "policy.changed",
  "assistant.stored",
  "assistant.removed",
  "connection.stored",
  "connection.removed",
  "provider.stored",
  "provider.removed",
  "embed_token.minted",
  "person.exported",
  "person.erased",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * One fact for the audit log: who did what, what was decided and why. It holds no secret. Of a
 * payload it holds the fingerprint and the redacted values only.
 */
export interface AuditEntry {
  readonly action: AuditAction;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Absent when a time limit caused the action. */
  readonly actorId?: ActorId;
  readonly subjectId?: ActorId;
  /** The actor who minted the embed token of the request. */
  readonly minterId?: ActorId;
  readonly runId?: RunId;
  /** `inv_<number>`. */
  readonly invocationId?: string;
  readonly approvalId?: ApprovalId;
  /** The consent that lasts, of records about it and about votes and calls that it answered. */
  readonly consentId?: string;
  readonly connectionId?: ConnectionId;
  readonly providerId?: ProviderId;
  readonly toolId?: string;
  readonly toolVersion?: string;
  /** WRAPPER_VERSION of the code that validated, gated and ran the call. */
  readonly wrapperVersion?: string;
  /** Of the validated arguments; outside the run's object its fingerprint. */
  readonly payloadHash?: string;
  readonly policyHash?: string;
  readonly policyRevision?: number;
  /** Of the stored assistant, or of the one that the run pinned; so are the next two. */
  readonly assistantId?: string;
  readonly assistantHash?: string;
  /** Absent for the deployment's own assistant. */
  readonly assistantRevision?: number;
  readonly decision?: string;
  readonly reason?: string;
  /** Of an error that nobody expected: names its line in the deployment's log. */
  readonly errorId?: string;
  /** Gates of the last attempt, in order. */
  readonly gates?: { readonly passed: readonly string[]; readonly refusedBy?: string };
  /** The model of a call that failed, and the provider's HTTP status. */
  readonly model?: string;
  readonly status?: number;
  /** The provider's own words, masked; or the fields of a tool's output that do not fit. */
  readonly detail?: string;
  /** What the model had been shown when it proposed the call. Absent: no text of others. */
  readonly after?: Sources;
  readonly outcome?: TaxonomyClass;
  /** Why a person must look at the call; absent for most. */
  readonly escalation?: EscalationReason;
  /** Who is responsible for the tool, where a person must look. */
  readonly toolOwner?: string;
  /** The tool's name for people, likewise. */
  readonly toolTitle?: string;
  /** `esc_<number>`, of records about an escalation. */
  readonly escalationId?: string;
  readonly durationMs?: number;
  /** Refused calls of one kind, of which no other record tells. The last one ended at `at`. */
  readonly count?: number;
  /** When the first of them ended. */
  readonly since?: string;
  /** Whose data was exported or erased, as a keyed hash, and how much. */
  readonly person?: PersonReceipt;
  /** Redacted arguments and output. */
  readonly input?: JsonObject;
  readonly result?: JsonObject;
}

/** What is known of the data of one person. */
export interface PersonReceipt extends Partial<ErasedCounts> {
  readonly hash: string;
  /** Data that is not erased. */
  readonly left?: number;
  /** Workspaces that do not say how to erase a person: `<name>/<id>`. */
  readonly without?: readonly string[];
}

/**
 * Version of Interlock itself: evidence of the code that handled a call (seeds/004, AI-ENG-AB). A
 * tool's contract is locked, so the tool's own version is evidence enough.
 */
export const WRAPPER_VERSION = "0.1.0";
