import type { AiEvent, DoneReason } from "../../src/protocol/ai-event.ts";
import type { ToolCallId } from "../../src/protocol/ids.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import {
  type ObservationFacts,
  observeFailure,
  observeSuccess,
} from "../../src/protocol/observation.ts";

/** Short ways to write the events of a run. */

const facts = (name: string, part: number): ObservationFacts => ({
  name,
  version: "1.0.0",
  toolCallId: `call_${part}` as ToolCallId,
  traceId: "trace",
  startedAtMs: 0,
  endedAtMs: 12,
});

export function proposeTool(part: number, toolName: string): AiEvent {
  return { type: "tool_call_proposed", part, toolCallId: `call_${part}` as ToolCallId, toolName };
}

export function startTool(part: number, args: JsonObject): AiEvent {
  return { type: "tool_call_start", part, toolCallId: `call_${part}` as ToolCallId, args };
}

export function reportProgress(
  part: number,
  progress: { readonly stage?: string; readonly done?: number; readonly total?: number },
): AiEvent {
  return {
    type: "tool_call_progress",
    part,
    toolCallId: `call_${part}` as ToolCallId,
    ...progress,
  };
}

export function sayAsUser(message: string): AiEvent {
  return { type: "user_message", text: message };
}

export function finishTool(
  part: number,
  data: JsonObject,
  warnings: readonly string[] = [],
): AiEvent {
  const observation = observeSuccess({ ...facts("core__any", part), warnings }, data);
  return {
    type: "tool_call_result",
    part,
    toolCallId: observation.tool_identity.call_id,
    observation,
  };
}

export function failTool(part: number, message: string): AiEvent {
  const observation = observeFailure(facts("core__any", part), {
    taxonomyClass: "OUT_OF_BOUNDS",
    errors: [{ field: "/time_zone", message, code: "invalid" }],
  });
  return {
    type: "tool_call_result",
    part,
    toolCallId: observation.tool_identity.call_id,
    observation,
  };
}

export function startText(part: number): AiEvent {
  return { type: "text_started", part };
}

export function text(part: number, delta: string): AiEvent {
  return { type: "text_delta", part, text: delta };
}

export function finishText(part: number): AiEvent {
  return { type: "text_finished", part };
}

export function setTitle(title: string): AiEvent {
  return { type: "title_set", title };
}

export function end(reason: DoneReason = "stop"): AiEvent {
  const usage = { inputTokens: 10, outputTokens: 20 };
  if (reason !== "error") return { type: "done", reason, usage };
  const error = { code: "upstream", message: "The model could not be reached." };
  return { type: "done", reason, usage, error };
}
