import type {
  ShownBefore,
  ToolExecResult,
  ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import { toExecResult } from "../../runner/outcome/exec-result.ts";
import { WAITING } from "../../runner/waiting.ts";
import type { RunScope } from "../run-scope.ts";

/** The calls that a step's model answer asked for. */
interface AskedCalls extends ShownBefore {
  readonly step: number;
  readonly calls: readonly ToolCall[];
}

/** What the calls of a step left behind. */
interface ExecutedCalls {
  /** A call ended with an unknown outcome, which no operator resolved in time. */
  readonly hasUnknownOutcome: boolean;
}

/** Shows every tool call of a step to readers and admits its operation. */
export function proposeCalls(scope: RunScope, { step, calls, ...shown }: AskedCalls): void {
  const nowMs = scope.clock.nowMs();
  const events = calls.map((call) => {
    const { toolCallId, name: toolName } = call;
    const part = scope.nextPart();
    scope.state.invocations.admit(call, { step, part, ...shown }, nowMs);
    const { title } = scope.tools.find(({ name }) => name === toolName) ?? {};
    const named = { toolName, ...(title !== undefined && { title }) };
    return { type: "tool_call_proposed" as const, part, toolCallId, ...named };
  });
  if (events.length > 0) scope.journal.append(events);
}

/**
 * Executes every call of a step. All calls start at once; the runner decides which run in parallel.
 * A result enters the transcript as soon as all results before it are there, so a crash loses few.
 * A waiting call holds back the results of the calls after it. When a hook ends the run meanwhile,
 * the calls that wait are asked once more, so that those which have not begun end.
 */
export async function executeCalls(
  scope: RunScope,
  step: number,
): Promise<ExecutedCalls | typeof WAITING> {
  const { invocations, transcript } = scope.state;
  const wasEnded = invocations.isEndedByHook;
  const running = invocations
    .ofStep(step)
    .filter(({ saga }) => !saga)
    .map((record) => ({ record, result: resultOf(scope, record) }));
  const answered = transcript.answeredCallIds();
  let isWaiting = false;
  for (const { record, result } of running) {
    const { toolCallId } = record;
    const outcome = await result;
    if (outcome === WAITING) isWaiting = true;
    else {
      // No model reads the result of a direct call.
      if (isWaiting || answered.has(toolCallId) || scope.claim.call) continue;
      const ended = invocations.find(record) ?? record;
      transcript.addResult(ended, outcome, invocations.labelsOf(record));
    }
  }
  // A call that waits for people has not begun: it ends now, and its approval request is closed.
  if (isWaiting && invocations.isEndedByHook && !wasEnded) return executeCalls(scope, step);
  const hasUnknownOutcome = invocations.ofStep(step).some(({ state }) => state === "EXPIRED");
  return isWaiting ? WAITING : { hasUnknownOutcome };
}

/** Tells the result of a call that has ended; executes any other call. */
function resultOf(
  { claim, runner, signal }: RunScope,
  record: ToolInvocationRecord,
): ToolExecResult | Promise<ToolExecResult | typeof WAITING> {
  const { toolCallId, step, part, state, end } = record;
  if (end) return toExecResult(toolCallId, state, end);
  const { runId, principal } = claim;
  const { tenantId, actorId } = principal;
  return runner.exec(record, { runId, tenantId, actorId, toolCallId, step, part }, signal);
}
