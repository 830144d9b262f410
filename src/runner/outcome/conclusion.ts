import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type {
  CallLesson,
  PlannedCompensation,
  ToolInvocationContext,
} from "../../protocol/invocation/record.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { DispatchState } from "../../protocol/outcome/response-vector.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { ShownDetails } from "../../protocol/tool/details.ts";
import type { KeptContent } from "../../protocol/tool/content.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import type { Grounds } from "./audit-call.ts";
import type { FinalState } from "../invocation/invocation-ledger.ts";
import type { Expectation } from "../verification/expect-state.ts";

/** A call that ends. Perhaps its tool was not found; perhaps no attempt was made. */
export interface EndingCall {
  readonly toolCall: Pick<ToolCall, "name" | "origin">;
  readonly context: ToolInvocationContext;
  readonly startedAtMs: number;
  readonly tool?: BoundToolRuntime;
  readonly attempt?: number;
}

/** How a call ends. */
export interface Conclusion {
  readonly outcome: Result<ShownOutput, ToolFailure>;
  /** What the model sees beside the output. */
  readonly content?: readonly KeptContent[];
  /** What the tool told people, and no model. */
  readonly details?: ShownDetails | undefined;
  readonly invocationState: FinalState;
  readonly dispatchState: DispatchState;
  readonly warnings?: readonly string[];
  /** The state that the call leads to; absent when it did not happen, or is not verified. */
  readonly expectation?: Expectation | undefined;
  readonly lesson?: CallLesson;
  readonly compensation?: PlannedCompensation;
  /** Of a saga's step: what it returned, before redaction. */
  readonly output?: JsonObject;
  /** The effect is that of an earlier attempt. */
  readonly isReplay?: boolean;
  readonly grounds?: Grounds;
  /** Hashes of what the call named; see UsedNames. */
  readonly usedNames?: readonly string[];
}

/** The output that the model and the run's readers see; `data` is null when nobody knows it. */
interface ShownOutput {
  readonly data: JsonObject | null;
  readonly warnings: readonly string[];
  readonly isPartial?: true;
}
