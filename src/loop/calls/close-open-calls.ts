import type { RunClaim } from "../../protocol/run/claim.ts";
import { recordFailure, type RecordPorts } from "../../runner/record.ts";
import { endWithoutTool } from "../../runner/recovery/unknown-outcome.ts";
import { TOOL_FAILED } from "../../runner/outcome/tool-failure.ts";
import type { LoopState } from "../run-scope.ts";

/** The capabilities that record the end of a call without its tool. */
type ClosingPorts = Omit<RecordPorts, "invocations" | "principal" | "pin">;

/**
 * Ends every call that a failed run left open. It adds every missing result to the transcript,
 * because providers refuse a call without a result.
 */
export function closeOpenCalls(
  ports: ClosingPorts,
  { runId, principal }: RunClaim,
  state: Pick<LoopState, "invocations" | "transcript">,
): void {
  const { invocations } = state;
  const startedAtMs = ports.clock.nowMs();
  const { tenantId, actorId } = principal;
  const recordPorts = { ...ports, invocations, principal };
  for (const record of invocations.open()) {
    const { toolCallId, step, part } = record;
    const context = { runId, tenantId, actorId, toolCallId, step, part };
    const ending = { toolCall: record, context, startedAtMs };
    const closed = endWithoutTool(recordPorts, ending, { record, isStopped: true });
    if (!closed) recordFailure(recordPorts, ending, TOOL_FAILED);
  }
  addMissingResults(state);
}

/** Adds the results that the last assistant message's calls have and the transcript lacks. */
function addMissingResults({
  invocations,
  transcript,
}: Pick<LoopState, "invocations" | "transcript">): void {
  const asked = new Set(transcript.lastToolCalls().map(({ toolCallId }) => toolCallId));
  const answered = transcript.answeredCallIds();
  for (const record of invocations.ended()) {
    const { toolCallId, end } = record;
    if (!end || !asked.has(toolCallId) || answered.has(toolCallId)) continue;
    transcript.addResult(record, end, invocations.labelsOf(record));
  }
}
