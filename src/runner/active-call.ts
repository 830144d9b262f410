import type { BoundToolRuntime } from "../capabilities/tool.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { ToolCall } from "../protocol/tool/call.ts";

/** A call as the loop hands it to the runner. */
export interface RequestedCall {
  readonly toolCall: ToolCall;
  readonly context: ToolInvocationContext;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
}

/** A call whose tool was found, in one of its attempts. */
export interface ActiveCall extends RequestedCall {
  readonly tool: BoundToolRuntime;
  readonly startedAtMs: number;
  /** From 1. */
  readonly attempt: number;
  /** What the tool ran with in an earlier attempt; undefined when it never ran. */
  readonly ranWith?: ToolInvocationContext | undefined;
  /** Why the outcome of an earlier attempt is unknown; undefined when it is known. */
  readonly unknownOutcome?: ToolFailure | undefined;
}

/** Tells whether running the tool changes anything. */
export function mutates({ effect }: Pick<BoundToolRuntime, "effect">): boolean {
  return effect !== "read_only";
}
