import type { ActorId, RunId, ToolCallId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";

/** The state after a write that differs from the expected one. Both states are redacted. */
export interface StateMismatch {
  readonly reference: string | null;
  readonly expectedState: JsonObject | null;
  /** Null when the contract did not tell it. */
  readonly foundState: JsonObject | null;
  readonly verifiedAt: string;
}

/** A call of the same run. */
export interface NamedCall {
  readonly invocationId: string;
  readonly toolId: string;
}

/** A saga that could not undo one of its steps. */
export interface UndoneSaga extends NamedCall {
  /** Its other steps that happened and were not undone, in their order. */
  readonly stays: readonly NamedCall[];
}

/**
 * A call that an operator has to look at: its outcome is unknown, or its state was not the expected
 * one; one item of `GET /v1/outcomes`. Times are ISO 8601, UTC.
 */
export interface AwaitedOutcome {
  readonly runId: RunId;
  /** `inv_<number>`: with `runId`, names the call. */
  readonly invocationId: string;
  readonly toolCallId: ToolCallId;
  readonly toolId: string;
  readonly toolVersion: string;
  /** Who is responsible for the tool. */
  readonly owner: string;
  /** The tool's name for people; absent: its contract has none. */
  readonly toolTitle?: string;
  /** Redacted. */
  readonly arguments: JsonObject;
  /** JSON pointers to the arguments that redaction removed. */
  readonly withheld: readonly string[];
  /** How often the tool was asked to act, from 1. */
  readonly attempts: number;
  readonly requestedBy: ActorId;
  /** When the tool was first asked to act. Absent in runs of an earlier release. */
  readonly dispatchedAt?: string;
  /**
   * The call completed, and undoing it failed: the report says whether the undo happened. Names the
   * run that tried, and the tool that undoes the call.
   */
  readonly undo?: {
    readonly runId: RunId;
    readonly toolId: string;
    /** Present when a saga tried to undo this step of it. */
    readonly saga?: UndoneSaga;
  };
  /** Until when a report is accepted. */
  readonly awaitsOutcomeUntil: string;
  /** Present when the call is completed and the state that it should lead to was not found. */
  readonly mismatch?: StateMismatch;
}
