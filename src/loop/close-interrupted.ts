import type { AiEvent } from "../protocol/ai-event.ts";
import type { ToolCallId } from "../protocol/ids.ts";
import { observeFailure } from "../protocol/observation.ts";
import { addUsage, NO_USAGE } from "../protocol/usage.ts";

interface OpenCall {
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
}

/**
 * Ends a run whose loop is gone: closes every part that is open, then says `done`.
 * Contract: pure; the events it answers with complete the log it was given.
 */
export function closeInterrupted(log: Iterable<AiEvent>, nowMs: number): readonly AiEvent[] {
  const openTexts = new Set<number>();
  const openCalls = new Map<number, OpenCall>();
  let usage = NO_USAGE;
  let traceId = "";
  for (const event of log) {
    if (event.type === "run_started") traceId = event.runId;
    else if (event.type === "text_started") openTexts.add(event.part);
    else if (event.type === "text_finished") openTexts.delete(event.part);
    else if (event.type === "tool_call_proposed") openCalls.set(event.part, event);
    else if (event.type === "tool_call_result") openCalls.delete(event.part);
    else if (event.type === "step_finished") usage = addUsage(usage, event.usage);
  }
  return [
    ...[...openTexts].map((part): AiEvent => ({ type: "text_finished", part })),
    ...[...openCalls].map(([part, { toolCallId, toolName }]): AiEvent => {
      const facts = {
        name: toolName,
        version: "unknown",
        toolCallId,
        traceId,
        startedAtMs: nowMs,
        endedAtMs: nowMs,
      };
      return {
        type: "tool_call_result",
        part,
        toolCallId,
        observation: observeFailure(facts, {
          taxonomyClass: "UNKNOWN_ERROR",
          errors: [{ field: null, code: "interrupted", message: "the run was interrupted" }],
        }),
      };
    }),
    {
      type: "done",
      reason: "error",
      usage,
      error: { code: "interrupted", message: "The run was interrupted and did not finish." },
    },
  ];
}
