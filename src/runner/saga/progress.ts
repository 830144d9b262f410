import type { BoundSaga, BoundToolRuntime, StepOutput } from "../../capabilities/tool.ts";
import type {
  ToolInvocationContext,
  ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";

/** A saga whose own call is recorded as dispatched. */
export interface RunningSaga {
  readonly tool: BoundToolRuntime;
  readonly plan: BoundSaga;
  /** Or why they cannot be read any more; then the steps that were made are undone. */
  readonly args: Result<JsonObject, ToolFailure>;
  readonly record: ToolInvocationRecord;
  readonly context: ToolInvocationContext;
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal;
}

/** A step that has happened. */
export interface MadeStep {
  readonly step: number;
  readonly record: ToolInvocationRecord;
  /** It reads, so there is nothing to undo. */
  readonly isRead: boolean;
}

/** Why no further step is made. */
export interface FailedStep {
  readonly step: number;
  readonly toolId: string;
  readonly failure: ToolFailure;
  /** Absent when the step was never asked for. */
  readonly record?: ToolInvocationRecord;
  readonly isPivot: boolean;
}

/** How far a saga came. */
export interface Progress {
  readonly made: readonly MadeStep[];
  /** Absent when every step was made. */
  readonly failed?: FailedStep;
}

/** A step that has happened and stays, because it could not be undone. */
export interface LeftStep extends MadeStep {
  /** Why undoing it failed; absent when nothing can undo it. */
  readonly failure?: ToolFailure;
}

/** Tells whether nobody knows if a step has happened. */
export function isUnknown({ record }: FailedStep): boolean {
  return record?.state === "EXPIRED";
}

/** Lists what the steps returned, in their order. Nobody knows what some of them returned. */
export function outputsOf(made: readonly MadeStep[]): readonly StepOutput[] {
  return made.flatMap(({ record: { name: toolId, end } }) =>
    end?.output ? [{ toolId, output: end.output }] : [],
  );
}
