import type { ApprovalRequirement } from "./requirement.ts";
import type { NamedPeople } from "./named-people.ts";
import type { ConfirmationPacket } from "./packet.ts";
import type { LastingChoice } from "../consent/lasting.ts";
import type { ActorId, ApprovalId, ToolCallId, ToolId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";
import type { PolicyPin } from "../policy/pin.ts";
import type { AskedRaise } from "../budget/raise.ts";
import type { ApprovalAsks } from "./question.ts";
import type { ShownChange } from "./shown.ts";
import type { CallBounds, TermChange } from "./terms.ts";

/** Statuses of an approval; all except `pending` are final. */
export const APPROVAL_STATUSES = [
  "pending",
  /** Enough people approved. The call passes every gate again. */
  "approved",
  /** The person answered its question. The call passes every gate again. */
  "answered",
  "rejected",
  /** Too few people voted in time. */
  "expired",
  /** Another approval took its place; see SupersedeReason. */
  "superseded",
  /** The run does not want the call any more, or the call cannot succeed; see withdrawnBecause. */
  "withdrawn",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** Why another approval took the place of one. */
export type SupersedeReason =
  /** An approver edited the arguments. */
  | "arguments_edited"
  /** The policies come to other terms. */
  | "terms_changed"
  /** What the packet showed does not hold any more. */
  | "shown_changed"
  /** The consent that answered it was used up, revoked or over when the call was about to begin. */
  | "consent_ended";

/**
 * Approval request for one payload. It is single use. Its id stands for the payload, so people vote
 * on exactly what they saw; other arguments need another approval.
 */
export interface ApprovalRecord {
  readonly id: ApprovalId;
  /** Number of the invocation within its run. */
  readonly invocation: number;
  /** Starts at 1 and grows with each approval that takes the place of another. */
  readonly generation: number;
  readonly toolCallId: ToolCallId;
  readonly part: number;
  readonly toolId: ToolId;
  readonly toolVersion: string;
  /** `sha256:…` over the validated arguments in canonical JSON, before any redaction. */
  readonly payloadHash: string;
  /** The policy that was current when the approval was requested. */
  readonly pin: PolicyPin;
  /** The person for whom the call is made. */
  readonly requester: ActorId;
  /** The actor who started the run: the requester, or somebody who acts for the requester. */
  readonly actorId: ActorId;
  /** The actor who minted the embed token that started the run; a further requester. */
  readonly minterId?: ActorId;
  /** All of them must be met; never empty. */
  readonly requirements: readonly ApprovalRequirement[];
  /** The people whom the fields of `approverIsNot` name. They never leave the run's storage. */
  readonly named?: NamedPeople;
  readonly bounds: CallBounds;
  /**
   * Hash of the terms under which the approval was requested, and of what its packet shows. A vote
   * counts only while both hold.
   */
  readonly termsHash: string;
  /** How the terms differ from those of the approval before. */
  readonly changedTerms?: readonly TermChange[];
  /** How the packet differs from what people saw before, without what an edit itself changed. */
  readonly changedShown?: readonly ShownChange[];
  /** What the edit of an approver changed in the packet. */
  readonly changedByEdit?: readonly ShownChange[];
  /** How often what the call showed has changed so far. */
  readonly timesChanged?: number;
  /** Present exactly when the packet holds a question or a raise. */
  readonly asks?: ApprovalAsks;
  readonly packet: ConfirmationPacket;
  readonly status: ApprovalStatus;
  readonly votes: readonly ApprovalVote[];
  /** The edit that superseded this approval, or the answer to its question. */
  readonly edit?: ApprovalEdit;
  /** Present exactly when the status is `answered`. */
  readonly answer?: JsonObject;
  /** Present exactly when the status is `superseded`. */
  readonly supersededBecause?: SupersedeReason;
  /**
   * Why its call cannot succeed any more, in words that may be shown. Only of a request that was
   * withdrawn for that.
   */
  readonly withdrawnBecause?: string;
  /** The approval that took its place. */
  readonly supersededBy?: ApprovalId;
  /** An approver wrote these arguments, not the model. */
  readonly isEdited?: boolean;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
  readonly closedAtMs?: number;
  /** When the call used the approval. It can do so once. */
  readonly consumedAtMs?: number;
}

/** Reads the raise that a request asks for; nothing of a request that its run took back. */
export function toAskedRaise({ packet: { raise }, status }: ApprovalRecord): readonly AskedRaise[] {
  if (!raise || status === "withdrawn" || status === "superseded") return [];
  const state = status === "pending" ? "open" : status === "approved" ? "granted" : "refused";
  return [{ raise, state }];
}

/** Other arguments for the same call, by a person who was allowed to approve it. */
export interface ApprovalEdit {
  /** `sha256:…` over the new arguments, validated, in canonical JSON. */
  readonly payloadHash: string;
  /** The arguments that it replaced. They never leave the run's storage. */
  readonly replacedText: string;
  readonly vote: ApprovalVote;
}

/** One person's vote. */
export interface ApprovalVote {
  readonly approverId: ActorId;
  /** The person's roles when they voted. */
  readonly roles: readonly string[];
  readonly decision: "approve" | "reject";
  readonly reason?: string;
  /**
   * `sha256:…` over the arguments as the person sent them, in canonical JSON; absent when the
   * person sent none. It recognises a repeated request.
   */
  readonly argumentsHash?: string;
  /** What the person's consent answers beyond this call; absent: nothing. */
  readonly lasting?: LastingChoice;
  /** The earlier consent of the person that voted; absent: the person voted on this call. */
  readonly consentId?: string;
  readonly atMs: number;
  /** The signed ApprovalToken of a vote that approves. It never leaves the run's storage. */
  readonly token?: string;
}

/** What one person approved, in the fields of seeds/004, "Approval Tokens". */
export interface ApprovalToken {
  readonly approval_id: ApprovalId;
  /** The run's id. */
  readonly trace_id: string;
  readonly tenant_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  readonly payload_hash: string;
  readonly terms_hash: string;
  /** Evidence: the policy that was current at the vote. Nothing compares it later. */
  readonly policy_revision: number;
  readonly policy_hash: string;
  readonly approver_id: ActorId;
  readonly approver_roles: readonly string[];
  /** ISO 8601, UTC, like `expires_at`. */
  readonly approved_at: string;
  readonly expires_at: string;
  readonly approval_scope: "single_execution";
  readonly decision: "approved";
}
