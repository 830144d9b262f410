import type { AiEvent, DoneReason, RunError } from "../../src/protocol/run/event.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import { formatPacketLines } from "../../src/protocol/approval/packet-lines.ts";
import { summarise } from "../../src/protocol/approval/view.ts";
import type { RunId, ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import {
  type ObservationFacts,
  observeFailure,
  observeSuccess,
  type ToolFailure,
} from "../../src/protocol/outcome/observation.ts";
import type { ShownDetails } from "../../src/protocol/tool/details.ts";

/** Short constructors for the events of a run. */

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
  const toolCallId = `call_${part}` as ToolCallId;
  return { type: "tool_call_start", part, toolCallId, toolName: "tool", args };
}

export function reportProgress(
  part: number,
  progress: {
    readonly stage?: string;
    readonly text?: string;
    readonly done?: number;
    readonly total?: number;
    readonly details?: JsonObject;
  },
): AiEvent {
  return {
    type: "tool_call_progress",
    part,
    toolCallId: `call_${part}` as ToolCallId,
    ...progress,
  };
}

export function addUserMessage(message: string): AiEvent {
  return { type: "user_message", text: message };
}

export function finishTool(
  part: number,
  data: JsonObject,
  warnings: readonly string[] = [],
): ResultEvent {
  const observation = observeSuccess({ ...facts("core__any", part), warnings }, data);
  return {
    type: "tool_call_result",
    part,
    toolCallId: observation.tool_identity.call_id,
    observation,
  };
}

/** The result of a call that answered text and images. */
export function finishWithContent(part: number, content: ResultEvent["content"]): AiEvent {
  return { ...finishTool(part, {}), ...(content && { content }) };
}

/** The result of a call that tells people more. */
export function finishWithDetails(part: number, details: ShownDetails): AiEvent {
  return { ...finishTool(part, { total: 3 }), details };
}

type ResultEvent = Extract<AiEvent, { type: "tool_call_result" }>;

export function failTool(part: number, message: string): ResultEvent {
  return endTool(part, {
    taxonomyClass: "OUT_OF_BOUNDS",
    errors: [{ field: "/time_zone", message, code: "invalid" }],
  });
}

/** The result of a call whose unknown outcome was not resolved in time. */
export function leaveUnresolved(part: number): ResultEvent {
  const message = "nobody told in time whether this happened";
  return endTool(part, {
    taxonomyClass: "UNKNOWN_ERROR",
    errors: [{ field: null, message, code: "outcome_unknown" }],
  });
}

function endTool(part: number, failure: ToolFailure): ResultEvent {
  const observation = observeFailure(facts("core__any", part), failure);
  const { call_id: toolCallId } = observation.tool_identity;
  return { type: "tool_call_result", part, toolCallId, observation };
}

export function awaitOutcome(part: number, untilMs: number): AiEvent {
  return { type: "tool_call_waiting", part, toolCallId: `call_${part}` as ToolCallId, untilMs };
}

/** The event that requests an approval of a call. */
export function requestApproval(record: ApprovalRecord): AiEvent {
  const { part, toolCallId, packet } = record;
  const approval = summarise("run_1" as RunId, record);
  const lines = formatPacketLines(packet);
  return { type: "approval_requested", part, toolCallId, approval, packet, lines };
}

export function updateApproval(record: ApprovalRecord): AiEvent {
  const { part, toolCallId } = record;
  const approval = summarise("run_1" as RunId, record);
  return { type: "approval_updated", part, toolCallId, approval };
}

export function waitForApproval(): AiEvent {
  return { type: "run_waiting", usage: { inputTokens: 1, outputTokens: 1 } };
}

export function withdraw(...parts: readonly number[]): AiEvent {
  return { type: "text_withdrawn", parts };
}

export function changeModel(from: string, to: string): AiEvent {
  return { type: "model_changed", from, to, reason: "overloaded" };
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

export function startReasoning(part: number): AiEvent {
  return { type: "reasoning_started", part };
}

export function reasoning(part: number, delta: string): AiEvent {
  return { type: "reasoning_delta", part, text: delta };
}

export function finishReasoning(part: number): AiEvent {
  return { type: "reasoning_finished", part };
}

export function setTitle(title: string): AiEvent {
  return { type: "title_set", title };
}

const UPSTREAM = { code: "upstream", message: "The model could not be reached." };

export function end(reason: DoneReason = "stop", error: RunError = UPSTREAM): AiEvent {
  const usage = { inputTokens: 10, outputTokens: 20 };
  return { type: "done", reason, usage, ...(reason === "error" && { error }) };
}
