import type { ActorId, RunId, ToolCallId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";

/**
 * A call with an unknown outcome that an operator may resolve; one item of `GET /v1/outcomes`.
 * Times are ISO 8601, UTC.
 */
export interface AwaitedOutcome {
  readonly runId: RunId;
  /** `inv_<number>`: with `runId`, names the call. */
  readonly invocationId: string;
  readonly toolCallId: ToolCallId;
  readonly toolId: string;
  readonly toolVersion: string;
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
  readonly undo?: { readonly runId: RunId; readonly toolId: string };
  /** Until when a report is accepted. */
  readonly awaitsOutcomeUntil: string;
}
