import { failCall } from "../../protocol/outcome/failures.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime, AttemptScope, ToolAnswer } from "../../capabilities/tool.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { maskValues, withheldValues, type MaskValues } from "../../protocol/secrets/mask-values.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import { timeoutOf } from "./timeout-of.ts";
import { answerWithin, type Waited } from "../../contracts/bind/answer-within.ts";
import type { AcceptedArguments } from "../gates/subjects.ts";
import { boundFailure, CANCELLED, toolFailed } from "../outcome/tool-failure.ts";

/** Code of a failure whose attempt was abandoned and may still be running. */
export const TIMED_OUT = "timeout";

/** What asking an author's function takes of the run. */
export interface AskPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: Pick<ToolPolicy, "budgets">;
}

/** Whose function is asked, about which call. */
interface AskedFunction {
  readonly tool: BoundToolRuntime;
  readonly signal: AbortSignal;
  readonly accepted: Pick<AcceptedArguments, "args" | "shown">;
  readonly authority: { readonly scope: Pick<AttemptScope, "mask" | "rowSources"> };
}

/**
 * Calls an author's function and waits until it answers, its time is up or the run is cancelled.
 * Contract: never throws. A function that does not answer is abandoned. A thrown error is logged,
 * and only its error id reaches the failure.
 * Fails: TIMEOUT; UNKNOWN_ERROR for a throw and for a cancelled run; the function's own failures.
 */
export async function askTool(
  { clock, log, policy }: AskPorts,
  asked: AskedFunction,
  ask: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const { tool, signal } = asked;
  const timeoutMs = timeoutOf(policy, tool);
  try {
    const waited = await answerWithin({ clock, timeoutMs, signal }, ask);
    return readAnswer(waited, asked, timeoutMs);
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version, mask: secretsOf(asked) };
    return toolFailed(log.fault("tool_threw", thrown, about));
  }
}

function readAnswer(
  waited: Waited<ToolAnswer>,
  asked: AskedFunction,
  timeoutMs: number,
): ToolAnswer {
  switch (waited.kind) {
    case "answered":
      return waited.value.ok ? waited.value : fail(readFailure(waited.value.failure, asked));
    case "cancelled":
      return CANCELLED;
    case "timed_out":
      return failCall(TIMED_OUT, `the tool did not answer within ${timeoutMs} ms`);
  }
}

/** Masks the secrets of the connection, and the arguments that redaction withholds. */
function secretsOf({ accepted, authority }: AskedFunction): MaskValues {
  const maskArguments = maskValues(withheldValues(accepted.args, accepted.shown));
  return (value) => maskArguments(authority.scope.mask(value));
}

/**
 * Bounds a tool's own failure and gives it the class that the contract declares for its code.
 * Threat: the texts of a failure may be somebody else's, like the tool's output. They may repeat
 * the secret of the connection, or an argument that redaction withholds.
 */
function readFailure(failure: ToolFailure, asked: AskedFunction): ToolFailure {
  const { errorClasses } = asked.tool;
  const isUntrusted = asked.tool.isOutputUntrusted || asked.authority.scope.rowSources.hasRead();
  const mask = secretsOf(asked);
  const bounded = boundFailure(failure, (text) =>
    mask(isUntrusted ? neutralise(text).value : text),
  );
  const declared = errorClasses.get(bounded.errors[0]?.code ?? "");
  return {
    ...bounded,
    ...(declared !== undefined && { taxonomyClass: declared }),
  };
}
