import type { ApprovalRequirement } from "./requirement.ts";
import type { ConfirmationPacket } from "./packet.ts";
import type { ActorId, ApprovalId, ToolCallId, ToolId } from "../identity/ids.ts";
import type { PolicyPin } from "../policy/pin.ts";

/** Where the question stands; all but `pending` are final. */
export const APPROVAL_STATUSES = [
  "pending",
  /** Enough people agreed; the call goes through every gate again. */
  "approved",
  "rejected",
  /** Nobody decided in time. */
  "expired",
  /** Somebody changed the arguments; another question took its place. */
  "superseded",
  /** The call is not wanted any more. */
  "withdrawn",
] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/**
 * One question to people: may this very payload run, once? Its id names the payload, so whoever decides
 * decides about what they were shown; other arguments are another question.
 */
export interface ApprovalRecord {
  readonly id: ApprovalId;
  /** Number of the invocation within its run. */
  readonly invocation: number;
  /** From 1; grows with each edit. */
  readonly generation: number;
  readonly toolCallId: ToolCallId;
  readonly part: number;
  readonly toolId: ToolId;
  readonly toolVersion: string;
  /** `sha256:…` over the validated arguments in canonical JSON, before any redaction. */
  readonly payloadHash: string;
  /** The policy that was current when people were asked. */
  readonly pin: PolicyPin;
  /** On whose account the call is made. */
  readonly requester: ActorId;
  /** Who started the run; the same person, or somebody who acts for them. */
  readonly actorId: ActorId;
  readonly requirement: ApprovalRequirement;
  readonly packet: ConfirmationPacket;
  readonly status: ApprovalStatus;
  readonly votes: readonly ApprovalVote[];
  /** What somebody wants instead; its status is `superseded` then. */
  readonly edit?: ApprovalEdit;
  /** The question that took its place. */
  readonly supersededBy?: ApprovalId;
  /** These arguments are not the model's: somebody wanted them instead. */
  readonly isEdited?: boolean;
  readonly askedAtMs: number;
  readonly expiresAtMs: number;
  readonly closedAtMs?: number;
  /** When the call took it, which it may once. */
  readonly consumedAtMs?: number;
}

/** Other arguments for the same call, by somebody who might have approved it. */
export interface ApprovalEdit {
  /** `sha256:…` over them, validated, in canonical JSON. */
  readonly payloadHash: string;
  readonly vote: ApprovalVote;
}

/** One person's word. */
export interface ApprovalVote {
  readonly approverId: ActorId;
  /** What they were to the tenant when they decided. */
  readonly roles: readonly string[];
  readonly decision: "approve" | "reject";
  readonly reason?: string;
  readonly atMs: number;
  /** Of an approval: the signed ApprovalToken. Never leaves the run's storage. */
  readonly token?: string;
}

/** What a person's approval is worth, in the fields of seeds/004, "Approval Tokens". */
export interface ApprovalToken {
  readonly approval_id: ApprovalId;
  /** The run. */
  readonly trace_id: string;
  readonly tenant_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  readonly payload_hash: string;
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
