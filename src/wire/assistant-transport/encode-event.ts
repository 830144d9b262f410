import type { AssistantStreamChunk } from "assistant-stream";
import type { AiEvent, DoneReason } from "../../protocol/run/event.ts";
import { formatEventId, type EventPosition } from "../../protocol/run/event-id.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ModelFinish } from "../../protocol/model/event.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { ShownContent } from "../../protocol/tool/content.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** A comment line, so that intermediaries keep an idle stream open. */
export const HEARTBEAT = ": keep-alive\n\n";

const DONE_FRAME = "data: [DONE]\n";

/** When a reader of a waiting run should return; short, so that people see a decision soon. */
const RETURN_AFTER_MS = 3_000;

/**
 * Ends a stream while its run waits for people; the next event continues the ids. `retry` is when
 * an EventSource returns by itself (https://html.spec.whatwg.org/multipage/server-sent-events.html,
 * read 2026-11-22).
 */
export const TRAILER = `retry: ${RETURN_AFTER_MS}\n${DONE_FRAME}\n`;

/**
 * Encodes one event as server-sent events of the assistant-transport protocol. The last frame of
 * the event carries the `id:`, so a client that has seen an id has seen the whole event.
 * Contract: pure and stateless; the same event and position give the same bytes within a revision.
 * Source: assistant-stream 0.3.44, AssistantTransportEncoder; a test compares the frames.
 */
export function encodeEvent(event: AiEvent, position: EventPosition): string {
  const id = `id: ${formatEventId(position)}\n\n`;
  if (event.type === "text_delta" || event.type === "reasoning_delta") {
    return `data: {"path":[${event.part}],"type":"text-delta","textDelta":${JSON.stringify(event.text)}}\n${id}`;
  }
  const frames = toChunks(event).map((chunk) => `data: ${JSON.stringify(chunk)}\n`);
  if (event.type === "done") frames.push(DONE_FRAME);
  return `${frames.join("\n")}${id}`;
}

/** Translates an event to the package's chunks. Contract: at least one chunk per event. */
export function toChunks(event: AiEvent): readonly AssistantStreamChunk[] {
  switch (event.type) {
    case "run_started":
      return [
        { path: [], type: "data", data: [{ type: "run", runId: event.runId, model: event.model }] },
      ];
    case "step_started":
      return [{ path: [], type: "step-start", messageId: event.messageId }];
    case "text_started":
      return [{ path: [event.part], type: "part-start", part: { type: "text" } }];
    case "reasoning_started":
      return [{ path: [event.part], type: "part-start", part: { type: "reasoning" } }];
    case "text_delta":
    case "reasoning_delta":
      return [{ path: [event.part], type: "text-delta", textDelta: event.text }];
    case "text_finished":
    case "reasoning_finished":
      return [{ path: [event.part], type: "part-finish" }];
    case "text_withdrawn":
      return [{ path: [], type: "data", data: [{ type: "withdrawn", parts: [...event.parts] }] }];
    case "model_changed": {
      const { from, to, reason } = event;
      return [{ path: [], type: "data", data: [{ type: "model-changed", from, to, reason }] }];
    }
    case "tool_call_proposed":
      return [
        {
          path: [event.part],
          type: "part-start",
          part: { type: "tool-call", toolCallId: event.toolCallId, toolName: event.toolName },
        },
        ...(event.title === undefined
          ? []
          : [
              {
                path: [],
                type: "data" as const,
                data: [{ type: "tool-title", toolCallId: event.toolCallId, title: event.title }],
              },
            ]),
      ];
    case "tool_call_start":
      return [
        { path: [event.part], type: "text-delta", textDelta: JSON.stringify(event.args) },
        { path: [event.part], type: "tool-call-args-text-finish" },
      ];
    case "tool_call_progress":
      return [{ path: [], type: "data", data: [toProgress(event)] }];
    case "tool_call_waiting": {
      const { toolCallId, untilMs } = event;
      const until = toIso(untilMs);
      return [{ path: [], type: "data", data: [{ type: "outcome-awaited", toolCallId, until }] }];
    }
    case "approval_requested": {
      const { toolCallId, approval, packet, lines } = event;
      const request = { type: "approval-request", toolCallId, approval, packet };
      return [{ path: [], type: "data", data: [{ ...request, lines: toJson(lines) }] }];
    }
    case "approval_updated": {
      const { toolCallId, approval } = event;
      return [
        { path: [], type: "data", data: [{ type: "approval-update", toolCallId, approval }] },
      ];
    }
    case "run_waiting":
      return [
        { path: [], type: "data", data: [{ type: "waiting" }] },
        { path: [], type: "message-finish", finishReason: "tool-calls", usage: event.usage },
      ];
    case "tool_call_result":
      return [
        {
          path: [event.part],
          type: "result",
          result: event.observation,
          isError: event.observation.status.is_error,
          ...toArtifact(event),
        },
        { path: [event.part], type: "part-finish" },
      ];
    case "user_message":
      return [{ path: [], type: "data", data: [{ type: "user-message", text: event.text }] }];
    case "title_set":
      return [{ path: [], type: "data", data: [{ type: "title", title: event.title }] }];
    // For the client that declared the tool, which speaks another wire.
    case "client_tool_call":
      return [];
    case "step_finished":
      return [
        {
          path: [],
          type: "step-finish",
          finishReason: toFinishReason(event.finish),
          usage: event.usage,
          isContinued: event.continued,
        },
      ];
    case "done":
      return doneChunks(event);
  }
}

/** What stands beside a result. */
function toArtifact({ content, details }: Extract<AiEvent, { type: "tool_call_result" }>) {
  if (!content && !details) return {};
  const shown = content && { content: toJson(content) };
  return { artifact: { ...shown, ...(details && { details }) } };
}

/** Casts a list to JSON: its own type is narrower than the package's. */
function toJson(lines: readonly (PacketLine | ShownContent)[]): readonly JsonObject[] {
  return lines as unknown as readonly JsonObject[];
}

/**
 * Encodes progress as data: the package has no chunk for it, and text in the part means arguments.
 */
function toProgress(event: Extract<AiEvent, { type: "tool_call_progress" }>) {
  const { type: _, part: _part, retryAtMs, ...progress } = event;
  const retry = retryAtMs !== undefined && { retryAt: toIso(retryAtMs) };
  return { type: "tool-progress", ...progress, ...retry };
}

function doneChunks(event: Extract<AiEvent, { type: "done" }>): readonly AssistantStreamChunk[] {
  const { reason, usage, error } = event;
  const chunks: AssistantStreamChunk[] = [
    { path: [], type: "data", data: [{ type: "done", reason, ...(error && { error }) }] },
  ];
  if (error) {
    chunks.push({
      path: [],
      type: "error",
      error: error.message,
      code: error.code,
      severity: "critical",
    });
  }
  chunks.push({ path: [], type: "message-finish", finishReason: doneFinishReason(reason), usage });
  return chunks;
}

type FinishReason = Extract<AssistantStreamChunk, { type: "message-finish" }>["finishReason"];

function toFinishReason(finish: ModelFinish): FinishReason {
  switch (finish) {
    case "tool_calls":
      return "tool-calls";
    case "content_filter":
    case "refusal":
      return "content-filter";
    case "context_window":
      return "length";
    case "pause":
      return "other";
    case "stop":
    case "length":
    case "error":
      return finish;
  }
}

/**
 * Maps reasons; `tool-calls` is left to waiting runs, which accumulators show as requires-action.
 */
function doneFinishReason(reason: DoneReason): FinishReason {
  switch (reason) {
    case "content_filter":
    case "refusal":
      return "content-filter";
    case "context_window":
      return "length";
    case "step_limit":
    case "cancelled":
      return "other";
    case "stop":
    case "length":
    case "error":
      return reason;
  }
}
