import type { ApprovalSummary } from "../approval/view.ts";
import type { CallBounds, TermChange } from "../approval/terms.ts";
import type { AssistantPin } from "../assistant/pin.ts";
import type { BudgetAmounts } from "../budget/amounts.ts";
import type { ActorId, ApprovalId, ConnectionId, RunId } from "../identity/ids.ts";
import type { ModelFailure, ModelFinish } from "../model/event.ts";
import type { Usage } from "../model/usage.ts";
import type { CallLimits, RunLimits } from "../policy/limits.ts";
import type { PolicyPin } from "../policy/pin.ts";
import type { RunVersions, StopReason, TokenReservation } from "./facts.ts";
import type { RunState, ToolCallSummary } from "./state.ts";

/**
 * What a run stored about its decisions, for those who may read the audit log. It holds no message,
 * no text of a model, no prompt, and no value that a contract withholds.
 * Times are ISO 8601, UTC.
 */
export interface RunTrace {
  /** How the run stands, as `GET /v1/runs/:id` shows it, without its title and its calls. */
  readonly run: Omit<RunState, "title" | "toolCalls">;
  readonly claim: TracedClaim;
  readonly pins: TracedPins;
  readonly steps: readonly TracedStep[];
  readonly calls: readonly TracedCall[];
  readonly approvals: readonly TracedApproval[];
  readonly spending: TracedSpending;
  readonly incarnations: TracedIncarnations;
  readonly notices: {
    /** The audit log does not have all records of the run yet. */
    readonly arePending: boolean;
  };
}

/** Who started the run, and with which authority. */
export interface TracedClaim {
  readonly actorId: ActorId;
  readonly subjectId?: ActorId | undefined;
  /** The actor who minted the embed token that started the run, and the origin of its page. */
  readonly minterId?: ActorId | undefined;
  readonly origin?: string | undefined;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** The first run of the conversation. Absent: this run is the first, or a direct call. */
  readonly conversationId?: RunId | undefined;
  /** What narrows the run below its policy. */
  readonly toolIds?: readonly string[] | undefined;
  readonly connectionIds?: readonly ConnectionId[] | undefined;
  readonly workspaceId?: string | undefined;
  readonly budgets?: RunLimits | undefined;
  readonly ownLimits?: CallLimits | undefined;
}

/** The versions of what the run was decided with. */
export interface TracedPins extends Partial<RunVersions> {
  /** The id of the assistant: the graph of a run (seeds/000, F2). Absent in a direct call. */
  readonly graphId?: string | undefined;
  readonly assistant?: AssistantPin | undefined;
  /** Absent: the run had no policy, which allows nothing. */
  readonly policy?: PolicyPin | undefined;
}

/** One step, and the model call that answered it. */
export interface TracedStep {
  readonly step: number;
  /** The model that was asked last. `none` in a direct call. */
  readonly model: string;
  /** Absent while the model has not answered. Sums all attempts of the step, like `usage`. */
  readonly finish?: ModelFinish;
  readonly usage?: Usage;
  /** Why the newest model call failed; the records tell of each failure. */
  readonly failure?: Pick<ModelFailure, "code" | "status"> | undefined;
}

/** One tool call. The records tell of its gates, and hold its redacted arguments and result. */
export interface TracedCall extends ToolCallSummary {
  readonly proposedAt: string;
  /** How often the tool was asked to act, and when it first was. */
  readonly dispatches: number;
  readonly dispatchedAt?: string | undefined;
  /** What the call reserved of the run's budgets, and what it used, if that differs. */
  readonly reserved?: BudgetAmounts | undefined;
  readonly used?: BudgetAmounts | undefined;
}

/** One approval, with the terms under which it was requested. What it shows is left out. */
export interface TracedApproval extends Omit<ApprovalSummary, "runId" | "title" | "toolCallId"> {
  readonly approvalId: ApprovalId;
  readonly invocationId: string;
  readonly policy: PolicyPin;
  readonly bounds: CallBounds;
  readonly termsHash: string;
  /** How the terms differ from those of the approval before. */
  readonly changedTerms?: readonly TermChange[] | undefined;
  /** How many shown values differ from what people saw before. */
  readonly changedShown: number;
  readonly votes: readonly {
    readonly approverId: ActorId;
    readonly roles: readonly string[];
    readonly decision: "approve" | "reject";
    /** The earlier consent of the person that voted. */
    readonly consentId?: string | undefined;
    readonly at: string;
  }[];
  /** When the call used the approval. */
  readonly consumedAt?: string | undefined;
}

/** What the model calls of the run took. Absent amounts: no limit, so nothing was reserved. */
export interface TracedSpending {
  readonly tokens?: number | undefined;
  /** Unit: millionths of the policy's currency. */
  readonly cost?: number | undefined;
  /** The newest reservation for a model call. */
  readonly reservation?: TokenReservation | undefined;
}

/** How often the run was interrupted, and why it must stop. */
export interface TracedIncarnations {
  readonly count: number;
  /** Recoveries since a step was finished. */
  readonly recoveries: number;
  readonly stop: StopReason | null;
}
