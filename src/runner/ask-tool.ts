import type { Clock } from "../capabilities/system.ts";
import type { BoundToolRuntime, InvocationScope } from "../capabilities/tool.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { hideValues, withheldValues } from "../protocol/text/hide-values.ts";
import { neutralise } from "../protocol/text/untrusted.ts";
import { answerWithin, type Waited } from "./answer-within.ts";
import type { AcceptedArguments } from "./gates/subjects.ts";
import { boundFailure, CANCELLED, failCall, TOOL_FAILED } from "./tool-failure.ts";

/** Code of a failure whose attempt was abandoned and may still be running. */
export const TIMED_OUT = "timeout";

/** What asking an author's function takes of the run. */
export interface AskPorts {
  readonly clock: Clock;
  readonly policy: Pick<ToolPolicy, "budgets">;
}

/** Whose function is asked, about which call. */
interface AskedFunction {
  readonly tool: BoundToolRuntime;
  readonly signal: AbortSignal;
  readonly accepted: Pick<AcceptedArguments, "args" | "shown">;
  readonly invocation: { readonly scope: Pick<InvocationScope, "hide"> };
}

/**
 * Calls an author's function and waits until it answers, its time is up or the run is cancelled.
 * Contract: never throws. A function that does not answer is abandoned. Nothing of a thrown error
 * reaches the failure.
 * Fails: TIMEOUT; UNKNOWN_ERROR for a throw and for a cancelled run; the function's own failures.
 */
export async function askTool(
  { clock, policy }: AskPorts,
  asked: AskedFunction,
  ask: () => Promise<Result<unknown, ToolFailure>>,
): Promise<Result<unknown, ToolFailure>> {
  const { tool, signal } = asked;
  const { maxRuntimeMs = tool.timeoutMs } = policy.budgets;
  const timeoutMs = Math.min(tool.timeoutMs, maxRuntimeMs);
  try {
    const waited = await answerWithin({ clock, timeoutMs, signal }, ask);
    return readAnswer(waited, asked, timeoutMs);
  } catch {
    return TOOL_FAILED;
  }
}

function readAnswer(
  waited: Waited<Result<unknown, ToolFailure>>,
  asked: AskedFunction,
  timeoutMs: number,
): Result<unknown, ToolFailure> {
  switch (waited.kind) {
    case "answered":
      return waited.value.ok
        ? ok(waited.value.value)
        : fail(readFailure(waited.value.failure, asked));
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
 * Threat: the texts of a failure may be somebody else's, like the tool's output. They may repeat
 * the secret of the connection, or an argument that redaction withholds.
 */
function readFailure(
  failure: ToolFailure,
  { tool, accepted, invocation }: AskedFunction,
): ToolFailure {
  const { errorClasses, isOutputUntrusted } = tool;
  const hideArguments = hideValues(withheldValues(accepted.args, accepted.shown));
  const bounded = boundFailure(failure, (text) => {
    const harmless = isOutputUntrusted ? neutralise(text).value : text;
    return hideArguments(invocation.scope.hide(harmless));
  });
  const declared = errorClasses.get(bounded.errors[0]?.code ?? "");
  return {
    ...bounded,
    ...(declared !== undefined && { taxonomyClass: declared }),
  };
}
