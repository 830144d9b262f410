import type { ActorId, ApprovalId, RunId } from "../identity/ids.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";

/** What settles an escalation. */
export type EscalationRemedy =
  /** An operator reports what happened: `POST …/invocations/:invocationId/outcome`. */
  | "report_outcome"
  /** An operator reviews the mismatch at the same address. */
  | "review_mismatch"
  /** Somebody decides the request that it is about: `POST /v1/approvals/:approvalId/decisions`. */
  | "decide"
  /** An operator settles it in the list. */
  | "settle";

/** Why a person must look at something that a run cannot settle, and what settles it. */
export const ESCALATION_REASONS = {
  /** A call may have happened, and nobody knows. */
  unknown_outcome: "report_outcome",
  /** Undoing a call failed, or a saga could not undo a step. */
  undo_failed: "report_outcome",
  /** A write completed, and the state that it should lead to was not found. */
  state_mismatch: "review_mismatch",
  /** A call waits for a higher limit of its run. */
  budget_request: "decide",
  /** A write completed, and nobody could read the state after it. */
  verification_unknown: "settle",
  /** The tool ran, and what it returned breaks its contract. */
  broken_output: "settle",
  /** A tool itself says that it could not take back what it did. */
  compensation_failed: "settle",
  /** Rights or policy refused a call with high risk. */
  high_risk_refusal: "settle",
  /** Rights or policy refused calls of one kind more than three times. */
  repeated_refusals: "settle",
  /** The run went on without a tool, because the model did not correct its calls. */
  repairs_exhausted: "settle",
} as const satisfies Record<string, EscalationRemedy>;
export type EscalationReason = keyof typeof ESCALATION_REASONS;

/** Classes of a refusal by rights or policy (seeds/004, "Tool Error Taxonomy"). */
export const DENIALS: ReadonlySet<TaxonomyClass | undefined> = new Set([
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "SIGNATURE_MISMATCH",
] satisfies TaxonomyClass[]);

/** `taken`: somebody works on it. `settled`: nobody has to look any more. */
export const ESCALATION_STATES = ["open", "taken", "settled"] as const;
export type EscalationState = (typeof ESCALATION_STATES)[number];

/** What a run cannot settle itself and a person must. Times are ISO 8601, UTC. */
export interface Escalation {
  /** `esc_<number>`, within the tenant. */
  readonly id: string;
  readonly reason: EscalationReason;
  readonly state: EscalationState;
  readonly runId: RunId;
  /** The newest call that it is about: `inv_<number>`. */
  readonly invocationId?: string;
  /** The request to decide. */
  readonly approvalId?: ApprovalId;
  readonly toolId?: string;
  /** The tool's name for people; absent: its contract has none. */
  readonly toolTitle?: string;
  readonly toolVersion?: string;
  /** Who is responsible for the tool. */
  readonly owner?: string;
  readonly requestedBy?: ActorId;
  /** Class of the newest call. */
  readonly outcome?: TaxonomyClass;
  /** Code of the failure of the newest call. */
  readonly code?: string;
  /** Calls of the run that it is about. */
  readonly count: number;
  readonly openedAt: string;
  /** Until when a report is accepted. */
  readonly until?: string;
  readonly takenBy?: ActorId;
  readonly takenAt?: string;
  /** Absent when a time limit settled it. */
  readonly settledBy?: ActorId;
  readonly settledAt?: string;
  /** How it was settled: `settled`, or what was reported. */
  readonly settledAs?: string;
  /** The words of whoever took or settled it. */
  readonly note?: string;
}

/** Reads the number of an escalation's id; 0, which no escalation has, for any other text. */
export function readEscalationId(id: string): number {
  return Number(/^esc_([1-9]\d{0,14})$/.exec(id)?.[1] ?? 0);
}
