import type { RunClaim } from "../protocol/run/claim.ts";
import { hasUnknownOutcome } from "../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { concludeEarly, type Ending } from "../runner/conclude.ts";
import {
  concludeSettled,
  concludeStopped,
  INTERRUPTED,
} from "../runner/recovery/unknown-outcome.ts";
import { TOOL_FAILED } from "../runner/tool-failure.ts";

/**
 * Ends every call that a broken run left open, and answers those that its conversation has no result of:
 * providers refuse a call without one.
 */
export function closeOpenCalls(
  ports: Ending["ports"],
  { runId, principal }: RunClaim,
  transcript: readonly TranscriptMessage[],
): void {
  const startedAtMs = ports.clock.nowMs();
  const { tenantId, actorId } = principal;
  for (const record of ports.invocations.open()) {
    const { toolCallId, step, part, settlement, binding } = record;
    const context = { runId, tenantId, actorId, toolCallId, step, part };
    const ending = { ports: { ...ports, principal }, call: record, context, startedAtMs };
    if (settlement) concludeSettled(ending, settlement);
    else if (hasUnknownOutcome(record) && binding?.mutates === true)
      concludeStopped(ending, INTERRUPTED);
    else concludeEarly(ending, TOOL_FAILED.failure);
  }
  for (const answer of unremembered(ports, transcript)) ports.journal.remember(answer);
}

/** Results that the calls of the last assistant message have, and the conversation has not. */
function unremembered(
  { invocations }: Pick<Ending["ports"], "invocations">,
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
