import type { RunJournal } from "../capabilities/run-journal.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { hasUnknownOutcome } from "../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { recordFailure, type RecordPorts } from "../runner/record.ts";
import {
  INTERRUPTED,
  recordSettlement,
  recordUnresolved,
} from "../runner/recovery/unknown-outcome.ts";
import type { InvocationLedger } from "../runner/invocation-ledger.ts";
import { TOOL_FAILED } from "../runner/tool-failure.ts";

/** What closing calls takes of the run. */
interface ClosePorts extends Omit<RecordPorts, "principal" | "pin"> {
  readonly invocations: InvocationLedger;
  readonly journal: RunJournal;
}

/**
 * Ends every call that a broken run left open, and answers those that its conversation has no result of:
 * providers refuse a call without one.
 */
export function closeOpenCalls(
  ports: ClosePorts,
  { runId, principal }: RunClaim,
  transcript: readonly TranscriptMessage[],
): void {
  const startedAtMs = ports.clock.nowMs();
  const { tenantId, actorId } = principal;
  for (const record of ports.invocations.open()) {
    const { toolCallId, step, part, settlement, binding } = record;
    const context = { runId, tenantId, actorId, toolCallId, step, part };
    const recordPorts = { ...ports, principal };
    const ending = { toolCall: record, context, startedAtMs };
    if (settlement) recordSettlement(recordPorts, ending, settlement);
    else if (hasUnknownOutcome(record) && binding?.mutates === true) {
      recordUnresolved(recordPorts, ending, INTERRUPTED);
    } else recordFailure(recordPorts, ending, TOOL_FAILED);
  }
  for (const answer of unremembered(ports, transcript)) ports.journal.remember(answer);
}

/** Results that the calls of the last assistant message have, and the conversation has not. */
function unremembered(
  { invocations }: Pick<ClosePorts, "invocations">,
  transcript: readonly TranscriptMessage[],
): readonly TranscriptMessage[] {
  const last = transcript.findLastIndex(({ role }) => role === "assistant");
  const asked = transcript[last];
  if (asked?.role !== "assistant") return [];
  const answered = new Set(
    transcript.slice(last).map((message) => message.role === "tool" && message.toolCallId),
  );
  return invocations
    .ended()
    .filter(({ toolCallId }) => asked.toolCalls.some((call) => call.toolCallId === toolCallId))
    .filter(({ toolCallId }) => !answered.has(toolCallId))
    .flatMap(({ toolCallId, name, end }) =>
      end ? [{ role: "tool" as const, toolCallId, name, result: end.observation }] : [],
    );
}
