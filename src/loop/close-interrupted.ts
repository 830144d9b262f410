import type { AiEvent } from "../protocol/ai-event.ts";
import type { ToolCallId } from "../protocol/ids.ts";
import { observeFailure, type ObservationObject } from "../protocol/observation.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";
import { addUsage, NO_USAGE } from "../protocol/usage.ts";

interface OpenCall {
  readonly toolCallId: ToolCallId;
  readonly toolName: string;
}

/** When and where the interruption was found. */
export interface Interruption {
  readonly runId: string;
  readonly nowMs: number;
}

/** What an interrupted run left behind. */
export interface Interrupted {
  readonly transcript: readonly TranscriptMessage[];
  readonly log: Iterable<AiEvent>;
}

/**
 * Ends a run whose loop is gone: closes every part that is open, then says `done`.
 * Contract: pure; the events it answers with complete the log it was given.
 */
export function closeInterrupted(
  log: Iterable<AiEvent>,
  interruption: Interruption,
): readonly AiEvent[] {
  const openTexts = new Set<number>();
  const openCalls = new Map<number, OpenCall>();
  let usage = NO_USAGE;
  for (const event of log) {
    if (event.type === "text_started") openTexts.add(event.part);
    else if (event.type === "text_finished") openTexts.delete(event.part);
    else if (event.type === "tool_call_proposed") openCalls.set(event.part, event);
    else if (event.type === "tool_call_result") openCalls.delete(event.part);
    else if (event.type === "step_finished") usage = addUsage(usage, event.usage);
  }
  return [
    ...[...openTexts].map((part): AiEvent => ({ type: "text_finished", part })),
    ...[...openCalls].map(([part, call]): AiEvent => ({
      type: "tool_call_result",
      part,
      toolCallId: call.toolCallId,
      observation: observeInterruption(call, interruption),
    })),
    {
      type: "done",
      reason: "error",
      usage,
      error: { code: "interrupted", message: "The run was interrupted and did not finish." },
    },
  ];
}

/**
 * Answers the tool calls that an interrupted run left open, so that another run can go on from its
 * transcript: providers refuse a call without a result. A call whose result the log holds is answered
 * with it: calls of one step end in any order, the transcript takes them in the order asked.
 * Contract: pure; only the last assistant message can have open calls.
 */
export function answerInterrupted(
  { transcript, log }: Interrupted,
  interruption: Interruption,
): readonly TranscriptMessage[] {
  const last = transcript.findLastIndex(({ role }) => role === "assistant");
  const asked = transcript[last];
  if (asked?.role !== "assistant") return [];
  const answered = new Set(
    transcript
      .slice(last + 1)
      .flatMap((message) => (message.role === "tool" ? [message.toolCallId] : [])),
  );
  const ended = new Map<ToolCallId, ObservationObject>();
  for (const event of log) {
    if (event.type === "tool_call_result") ended.set(event.toolCallId, event.observation);
  }
  return asked.toolCalls
    .filter(({ toolCallId }) => !answered.has(toolCallId))
    .map(({ toolCallId, name }) => ({
      role: "tool",
      toolCallId,
      name,
      result:
        ended.get(toolCallId) ?? observeInterruption({ toolCallId, toolName: name }, interruption),
    }));
}

/** The log may lack the last moments before the end, so nothing tells which tools had begun. */
const INTERRUPTED = "the run was interrupted, and whether the tool ran is not known";

function observeInterruption(
  { toolCallId, toolName }: OpenCall,
  { runId, nowMs }: Interruption,
): ObservationObject {
  const times = { startedAtMs: nowMs, endedAtMs: nowMs };
  const facts = { name: toolName, version: "unknown", toolCallId, traceId: runId, ...times };
  return observeFailure(facts, {
    taxonomyClass: "UNKNOWN_ERROR",
    errors: [{ field: null, code: "interrupted", message: INTERRUPTED }],
  });
}
