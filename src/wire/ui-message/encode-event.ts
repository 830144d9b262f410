import { isAskedHere } from "../../protocol/approval/asked-here.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { describeErrors } from "../../protocol/outcome/describe-errors.ts";
import { formatEventId } from "../../protocol/run/event-id.ts";
import type { AiEvent, DoneReason, LoggedEvent } from "../../protocol/run/event.ts";
import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** One chunk of a UI message stream; `type` names its shape. */
export type UiChunk = { readonly type: string } & Readonly<Record<string, unknown>>;

type EventOf<Type extends AiEvent["type"]> = Extract<AiEvent, { readonly type: Type }>;

/**
 * Encodes one event as chunks of a UI message stream. The last chunk of the event carries the
 * `id:`, so a client that has seen an id has seen the whole event.
 * Contract: pure and stateless; empty for an event that this wire does not show.
 * Source: ai 7.0.173, uiMessageChunkSchema; a test reads every chunk with the package's own client.
 */
export function encodeUiEvent({ event, position }: LoggedEvent, run: StreamedRun): string {
  const at = formatEventId(position);
  if (event.type === "text_delta" || event.type === "reasoning_delta") {
    const type = event.type === "text_delta" ? "text-delta" : "reasoning-delta";
    return `data: {"type":"${type}","id":"${event.part}","delta":${JSON.stringify(event.text)}}\nid: ${at}\n\n`;
  }
  const chunks = toUiChunks(event, { ...run, at });
  return frameChunks(chunks, { at, isOver: event.type === "done" });
}

/** Frames the chunks of one event; `at` is the id of the event. */
export function frameChunks(
  chunks: readonly UiChunk[],
  { at, isOver }: { readonly at: string; readonly isOver?: boolean },
): string {
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n`);
  if (isOver) frames.push("data: [DONE]\n");
  return frames.length > 0 ? `${frames.join("\n")}id: ${at}\n\n` : "";
}

/** The run, and the id of the event. */
type Place = StreamedRun & { readonly at: string };

/** Translates an event to chunks. */
function toUiChunks(event: AiEvent, { runId, at }: Place): readonly UiChunk[] {
  switch (event.type) {
    case "run_started": {
      const { model } = event;
      return [{ type: "start", messageId: runId, messageMetadata: { runId, model } }];
    }
    case "step_started":
      return [{ type: "start-step" }];
    case "text_started":
      return [{ type: "text-start", id: `${event.part}` }];
    case "text_delta":
      return [{ type: "text-delta", id: `${event.part}`, delta: event.text }];
    case "text_finished":
      return [{ type: "text-end", id: `${event.part}` }];
    case "reasoning_started":
      return [{ type: "reasoning-start", id: `${event.part}` }];
    case "reasoning_delta":
      return [{ type: "reasoning-delta", id: `${event.part}`, delta: event.text }];
    case "reasoning_finished":
      return [{ type: "reasoning-end", id: `${event.part}` }];
    // Only text and reasoning are withdrawn, always all of a step.
    case "text_withdrawn":
      return [{ type: "reset-step" }];
    case "model_changed": {
      const { from, to, reason } = event;
      return [{ type: "data-model-changed", data: { from, to, reason }, transient: true }];
    }
    case "tool_call_proposed": {
      const { type: _type, part: _part, ...named } = event;
      return [{ type: "tool-input-start", ...named }];
    }
    case "tool_call_start":
      return [toInput(event, event.args)];
    case "tool_call_progress":
      return [toProgress(event)];
    case "tool_call_waiting": {
      const { toolCallId, untilMs } = event;
      return [toData("outcome-awaited", toolCallId, { toolCallId, until: toIso(untilMs) })];
    }
    case "approval_requested":
      return requestChunks(event);
    case "approval_updated":
      return updateChunks(event);
    // The stream ends here, and a client takes an end without `finish` for a whole answer. It posts
    // the place back with a decision.
    case "run_waiting":
      return [{ type: "finish", finishReason: "tool-calls", messageMetadata: { waitsAt: at } }];
    case "tool_call_result":
      return resultChunks(event);
    case "user_message":
      return [{ type: "data-user-message", data: { text: event.text } }];
    case "title_set":
      return [toData("title", runId, { title: event.title })];
    // For the client that declared the tool, which speaks another wire.
    case "client_tool_call":
      return [];
    case "step_finished":
      return [{ type: "finish-step" }];
    case "done":
      return doneChunks(event);
  }
}

/** A data part; a later one of the same kind and id takes its place. */
function toData(kind: string, id: string, data: object): UiChunk {
  return { type: `data-${kind}`, id, data };
}

function toInput(
  { toolCallId, toolName }: Pick<EventOf<"tool_call_start">, "toolCallId" | "toolName">,
  input: JsonObject,
): UiChunk {
  return { type: "tool-input-available", toolCallId, toolName, input };
}

function toProgress(event: EventOf<"tool_call_progress">): UiChunk {
  const { type: _type, part: _part, retryAtMs, ...at } = event;
  const retry = retryAtMs !== undefined && { retryAt: toIso(retryAtMs) };
  return { type: "data-tool-progress", id: at.toolCallId, data: { ...at, ...retry } };
}

/**
 * Asks for an approval. Only the person who may answer here gets the question in its native form;
 * for everybody else it is a note, because a click on it would be refused.
 */
function requestChunks(event: EventOf<"approval_requested">): readonly UiChunk[] {
  const { toolCallId, approval, packet, lines } = event;
  const { approvalId } = approval;
  const { title, tool: toolName } = packet.actionName;
  const shown = toInput({ toolCallId, toolName }, packet.arguments.shown);
  const descriptor = { approval, packet, lines };
  return [
    shown,
    isAskedHere(approval)
      ? {
          type: "tool-approval-request",
          approvalId,
          toolCallId,
          reason: title,
          approvalDescriptor: descriptor,
        }
      : { type: "data-approval", id: approvalId, data: { toolCallId, ...descriptor } },
  ];
}

function updateChunks({ toolCallId, approval }: EventOf<"approval_updated">): readonly UiChunk[] {
  const { approvalId, status } = approval;
  if (!isAskedHere(approval)) return [toData("approval", approvalId, { toolCallId, approval })];
  // Another approval takes its place and asks anew.
  if (status === "pending" || status === "superseded") return [];
  const approved = status === "approved";
  const reason = approved ? undefined : status;
  return [{ type: "tool-approval-response", approvalId, approved, reason }];
}

/** Outcomes of a call that people did not allow. */
const DENIED: ReadonlySet<string> = new Set([
  "approval_rejected",
  "approval_expired",
  "approval_withdrawn",
]);

function resultChunks(event: EventOf<"tool_call_result">): readonly UiChunk[] {
  const { toolCallId, observation, content, details } = event;
  const { errors, data } = observation.result_payload;
  const shown = [
    ...(content ? [toData("tool-content", toolCallId, { toolCallId, content })] : []),
    ...(details ? [toData("tool-details", toolCallId, { toolCallId, ...details })] : []),
  ];
  if (!observation.status.is_error) {
    return [{ type: "tool-output-available", toolCallId, output: data ?? {} }, ...shown];
  }
  if (errors.some(({ code }) => DENIED.has(code))) {
    return [{ type: "tool-output-denied", toolCallId }];
  }
  const errorText = describeErrors(observation);
  return [{ type: "tool-output-error", toolCallId, errorText }, ...shown];
}

function doneChunks({ reason, usage, error }: EventOf<"done">): readonly UiChunk[] {
  const messageMetadata = { reason, usage, ...(error && { error }) };
  if (reason === "cancelled") return [{ type: "abort", reason }];
  const finish = { type: "finish", finishReason: FINISH_REASONS[reason], messageMetadata };
  return error ? [finish, { type: "error", errorText: error.message }] : [finish];
}

const FINISH_REASONS: { readonly [Reason in DoneReason]: string } = {
  stop: "stop",
  length: "length",
  context_window: "length",
  content_filter: "content-filter",
  refusal: "content-filter",
  step_limit: "other",
  cancelled: "other",
  error: "error",
};
