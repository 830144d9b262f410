import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { neutralise } from "../protocol/text/untrusted.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import { answerWithin } from "./answer-within.ts";
import type { ActiveCall } from "./active-call.ts";
import { boundFailure, CANCELLED, failCall, TOOL_FAILED } from "./tool-failure.ts";

/** Code of a failure whose attempt was left behind, and may go on. */
export const TIMED_OUT = "timeout";

/**
 * Calls an author's function until it answers, its time is up or the run is cancelled.
 * Contract: never throws; a function that does not end is left behind. Nothing of a thrown error
 * reaches the failure.
 * Fails: TIMEOUT; UNKNOWN_ERROR for a throw and for a cancelled run; whatever the function returns.
 */
export async function askTool(
  { tool, signal, ports }: Pick<ActiveCall, "tool" | "signal" | "ports">,
  ask: () => Promise<Result<unknown, ToolFailure>>,
): Promise<Result<unknown, ToolFailure>> {
  const { maxRuntimeMs = tool.timeoutMs } = ports.policy.budgets;
  const timeoutMs = Math.min(tool.timeoutMs, maxRuntimeMs);
  const patience = { clock: ports.clock, timeoutMs, signal };
  const waited = await answerWithin(patience, () => attempt(ask, tool));
  switch (waited.kind) {
    case "answered":
      return waited.value;
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
 * What an author's function answers is no more to be trusted than what it throws, and its words on a
 * failure no more than its output: they may be somebody else's.
 */
async function attempt(
  ask: () => Promise<Result<unknown, ToolFailure>>,
  { errorClasses, isOutputUntrusted }: ActiveCall["tool"],
): Promise<Result<unknown, ToolFailure>> {
  try {
    const answer = await ask();
    if (answer.ok) return { ok: true, value: answer.value };
    const bounded = boundFailure(answer.failure);
    const declared = errorClasses.get(bounded.errors[0]?.code ?? "");
    const failure = isOutputUntrusted
      ? { ...bounded, errors: neutralise(bounded.errors).value }
      : bounded;
    return fail(declared === undefined ? failure : { ...failure, taxonomyClass: declared });
  } catch {
    return TOOL_FAILED;
  }
}
