import type { ShownCall } from "./direct-call.ts";
import type { DoneReason, RunError } from "./event.ts";
import type { ActorId, ApprovalId, RunId, ToolCallId } from "../identity/ids.ts";
import type { UndoState } from "../invocation/undo.ts";
import type { InvocationState } from "../invocation/state.ts";
import type { NextAction } from "../outcome/response-vector.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";
import type { UnverifiedReason, VerificationOutcome } from "../outcome/verification.ts";
import type { MadeAfter } from "../label/source.ts";
import type { JsonObject } from "../json/value.ts";
import type { Usage } from "../model/usage.ts";

/**
 * A run is `waiting` while a call needs an approval, while an operator must resolve an unknown
 * outcome, and while it rests until the next attempt of a write.
 */
export type RunStatus = "running" | "waiting" | "completed" | "cancelled" | "failed";

/** Maps how a run ended to the status that a reader sees; `reason` is null while it is open. */
export function statusOf(reason: DoneReason | null, isWaiting: boolean): RunStatus {
  if (reason === null) return isWaiting ? "waiting" : "running";
  switch (reason) {
    case "stop":
    case "length":
    case "context_window":
    case "content_filter":
    case "refusal":
    case "step_limit":
      return "completed";
    case "cancelled":
      return "cancelled";
    case "error":
      return "failed";
  }
}

/** How the state after a call was verified. States are redacted. */
export interface VerificationSummary {
  readonly status: "pending" | VerificationOutcome;
  /** Why the outcome is unknown. */
  readonly reason?: UnverifiedReason;
  readonly reference: string | null;
  readonly expectedState: JsonObject | null;
  readonly foundState?: JsonObject;
  readonly attempts: number;
  /** When the state is read, or is read again; absent once the verification has ended. */
  readonly dueAt?: string;
  readonly verifiedAt?: string;
  readonly reviewedBy?: ActorId;
}

/** One tool call as `GET /v1/runs/:id` shows it. */
export interface ToolCallSummary extends MadeAfter {
  readonly toolCallId: ToolCallId;
  /** `inv_<number>`: the id with which an operator resolves an unknown outcome. */
  readonly invocationId: string;
  readonly name: string;
  /** Version of the tool; `unknown` when no tool has that name. */
  readonly version: string;
  readonly step: number;
  /** Id of the saga's invocation, when the call is one of its steps. */
  readonly saga?: string;
  readonly state: InvocationState;
  /** Absent while the call is open, like `nextAction` and `endedAt`. */
  readonly outcome?: TaxonomyClass;
  /** The next action after this outcome (seeds/004, "Response Vector Model"). */
  readonly nextAction?: NextAction;
  readonly attempts: number;
  /**
   * Fingerprint of the validated arguments. Absent until the arguments are known to be valid, like
   * `idempotencyKeyHash`.
   */
  readonly payloadHash?: string;
  /** Fingerprint of the idempotency key; it names the operation's record in KV. */
  readonly idempotencyKeyHash?: string;
  /** Present exactly while the call waits for its next attempt. */
  readonly nextAttemptAt?: string;
  /** Present exactly while an operator can resolve the unknown outcome. */
  readonly awaitsOutcomeUntil?: string;
  /** Present exactly while an approval of the call is pending, like `awaitsApprovalUntil`. */
  readonly approvalId?: ApprovalId;
  readonly awaitsApprovalUntil?: string;
  /** Present when the viewer may undo the call, and once somebody did or tried. */
  readonly undo?: UndoState;
  /** The operator who resolved the unknown outcome. */
  readonly resolvedBy?: ActorId;
  /** Present exactly when the state after the call is verified. */
  readonly verification?: VerificationSummary;
  readonly startedAt: string;
  readonly endedAt?: string;
}

/** The body of `GET /v1/runs/:id`. Times are ISO 8601, UTC. */
export interface RunState {
  readonly runId: RunId;
  readonly status: RunStatus;
  /** Present once the run has ended. */
  readonly reason?: DoneReason;
  readonly error?: RunError;
  readonly title?: string;
  /** `none` in a run of one direct call. */
  readonly model: string;
  /** Present in a run of one direct call, which asks no model. */
  readonly call?: ShownCall;
  /** Number of steps that have begun. */
  readonly steps: number;
  /** Number of interruptions from which the run recovered. */
  readonly recoveries: number;
  readonly toolCalls: readonly ToolCallSummary[];
  readonly usage: Usage;
  readonly timestamps: {
    readonly createdAt: string;
    readonly endedAt?: string;
  };
}
