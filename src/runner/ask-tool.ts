import type { Clock } from "../capabilities/system.ts";
import type { BoundToolRuntime } from "../capabilities/tool.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { neutralise } from "../protocol/text/untrusted.ts";
import { answerWithin, type Waited } from "./answer-within.ts";
import { boundFailure, CANCELLED, failCall, TOOL_FAILED } from "./tool-failure.ts";

/** Code of a failure whose attempt was abandoned and may still be running. */
export const TIMED_OUT = "timeout";

/** What asking an author's function takes of the run. */
export interface AskPorts {
  readonly clock: Clock;
  readonly policy: Pick<ToolPolicy, "budgets">;
}

interface Asked {
  readonly tool: BoundToolRuntime;
  readonly signal: AbortSignal;
}

/**
 * Calls an author's function and waits until it answers, its time is up or the run is cancelled.
 * Contract: never throws. A function that does not answer is abandoned. Nothing of a thrown error
 * reaches the failure.
 * Fails: TIMEOUT; UNKNOWN_ERROR for a throw and for a cancelled run; the function's own failures.
 */
export async function askTool(
  { clock, policy }: AskPorts,
  { tool, signal }: Asked,
  ask: () => Promise<Result<unknown, ToolFailure>>,
): Promise<Result<unknown, ToolFailure>> {
  const { maxRuntimeMs = tool.timeoutMs } = policy.budgets;
  const timeoutMs = Math.min(tool.timeoutMs, maxRuntimeMs);
  try {
    const waited = await answerWithin({ clock, timeoutMs, signal }, ask);
    return readAnswer(waited, tool, timeoutMs);
  } catch {
    return TOOL_FAILED;
  }
}

function readAnswer(
  waited: Waited<Result<unknown, ToolFailure>>,
  tool: BoundToolRuntime,
  timeoutMs: number,
): Result<unknown, ToolFailure> {
  switch (waited.kind) {
    case "answered":
      return waited.value.ok
        ? ok(waited.value.value)
        : fail(readFailure(waited.value.failure, tool));
    case "cancelled":
      return CANCELLED;
    case "timed_out":
      return failCall("TIMEOUT", {
        code: TIMED_OUT,
        message: `the tool did not answer within ${timeoutMs} ms`,
      });
  }
}

/**
 * Bounds a tool's own failure and gives it the class that the contract declares for its code.
 * Threat: the texts of a failure may be somebody else's, like the tool's output.
 */
function readFailure(
  failure: ToolFailure,
  { errorClasses, isOutputUntrusted }: BoundToolRuntime,
): ToolFailure {
  const bounded = boundFailure(failure);
  const declared = errorClasses.get(bounded.errors[0]?.code ?? "");
  return {
    ...bounded,
    ...(isOutputUntrusted && { errors: neutralise(bounded.errors).value }),
    ...(declared !== undefined && { taxonomyClass: declared }),
  };
}
