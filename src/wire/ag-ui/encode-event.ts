import { readApprovalId } from "../../protocol/approval/id.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import { describeErrors } from "../../protocol/outcome/describe-errors.ts";
import type { ObservationObject } from "../../protocol/outcome/observation.ts";
import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import { formatEventId } from "../../protocol/run/event-id.ts";
import type { AiEvent, LoggedEvent } from "../../protocol/run/event.ts";

/** One AG-UI event; `type` names its shape. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

type EventOf<Type extends AiEvent["type"]> = Extract<AiEvent, { readonly type: Type }>;

/**
 * Encodes one event as AG-UI events. The last one carries the `id:`, so a client that has seen an
 * id has seen the whole event.
 * Contract: pure and stateless; empty for an event that this wire does not show. No step is told:
 * a stream that ends while people are asked would leave it open.
 * Source: docs.ag-ui.com/spec/1.0 and @ag-ui/core 0.0.59, read 2026-11-24; a test reads every event
 * with the clients of both.
 */
export function encodeAgUiEvent({ event, position }: LoggedEvent, run: StreamedRun): string {
  const frames = toAgUiEvents(event, run).map(frameOf);
  const last = frames.pop();
  return last === undefined
    ? ""
    : `${frames.join("")}${last.slice(0, -1)}id: ${formatEventId(position)}\n\n`;
}

/** Frames one AG-UI event. */
export function frameOf(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** An event of our own, which other clients pass over. */
export function customEvent(name: string, value: unknown): AgUiEvent {
  return { type: "CUSTOM", name: `interlock:${name}`, value };
}

/** Names a text or a reasoning of a run. */
export function messageIdOf(runId: RunId, part: number): string {
  return `${runId}-${part}`;
}

/** Names a call of a run: providers repeat their ids, and a client keeps all runs in one list. */
export function callIdOf(runId: RunId, toolCallId: string): string {
  return `${runId}:${toolCallId}`;
}

function toAgUiEvents(event: AiEvent, run: StreamedRun): readonly AgUiEvent[] {
  const { runId } = run;
  const text = (type: string, part: number, more?: object): AgUiEvent => ({
    type,
    messageId: messageIdOf(runId, part),
    ...more,
  });
  switch (event.type) {
    case "run_started":
      return [{ type: "RUN_STARTED", threadId: run.workflowId, runId }];
    case "text_started":
      return [text("TEXT_MESSAGE_START", event.part)];
    case "text_delta":
      return [text("TEXT_MESSAGE_CONTENT", event.part, { delta: event.text })];
    case "text_finished":
      return [text("TEXT_MESSAGE_END", event.part)];
    case "reasoning_started":
      return [
        text("REASONING_START", event.part),
        text("REASONING_MESSAGE_START", event.part, { role: "reasoning" }),
      ];
    case "reasoning_delta":
      return [text("REASONING_MESSAGE_CONTENT", event.part, { delta: event.text })];
    case "reasoning_finished":
      return [text("REASONING_MESSAGE_END", event.part), text("REASONING_END", event.part)];
    case "tool_call_proposed":
      return callEvents(run, event);
    // The arguments of a call that people are asked about stand in the request already.
    case "tool_call_start":
      return event.wasAsked ? [] : callEvents(run, event, event.args);
    case "approval_requested":
      return requestEvents(run, event);
    case "tool_call_result":
      return resultEvents(run, event);
    case "done":
      return [doneEvent(run, event)];
    case "step_started":
    case "step_finished":
    case "run_waiting":
    case "client_tool_call":
      return [];
    case "text_withdrawn":
    case "model_changed":
    case "tool_call_progress":
    case "tool_call_waiting":
    case "approval_updated":
    case "user_message":
    case "title_set":
      return [noteOf(run, event)];
  }
}

/** Tells what AG-UI has no event for, under the name that the event has here. */
function noteOf({ runId }: StreamedRun, event: AiEvent): AgUiEvent {
  const { type, ...value } = event;
  const named = "toolCallId" in value && { toolCallId: callIdOf(runId, value.toolCallId) };
  return customEvent(type, { ...value, ...named });
}

/** Opens and closes a call. A call that is closed may be opened again for its arguments. */
function callEvents(
  { runId }: StreamedRun,
  { toolCallId: named, toolName }: Pick<EventOf<"tool_call_start">, "toolCallId" | "toolName">,
  args?: JsonObject,
): readonly AgUiEvent[] {
  const toolCallId = callIdOf(runId, named);
  const delta = args && { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) };
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId: toolCallId },
    ...(delta ? [delta] : []),
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

/** An approval that takes the place of another asks about a call whose arguments stand there. */
function requestEvents(
  run: StreamedRun,
  event: EventOf<"approval_requested">,
): readonly AgUiEvent[] {
  const { toolCallId, approval, packet } = event;
  const toolName = packet.actionName.tool;
  const isFirst = readApprovalId(approval.approvalId)?.generation === 1;
  return [
    ...(isFirst ? callEvents(run, { toolCallId, toolName }, packet.arguments.shown) : []),
    noteOf(run, event),
  ];
}

function resultEvents(
  { runId }: StreamedRun,
  { toolCallId: named, observation, content: shown, details }: EventOf<"tool_call_result">,
): readonly AgUiEvent[] {
  const toolCallId = callIdOf(runId, named);
  const { id: messageId, ...result } = resultMessage(toolCallId, observation);
  const metadata = { interlock: { outcome: observation.status.taxonomy_class } };
  return [
    { type: "TOOL_CALL_RESULT", messageId, ...result, metadata },
    ...(shown ? [customEvent("tool_content", { toolCallId, content: shown })] : []),
    ...(details ? [customEvent("tool_details", { toolCallId, ...details })] : []),
  ];
}

function doneEvent(
  { workflowId: threadId, runId, model }: StreamedRun,
  { reason, usage: used, error }: EventOf<"done">,
): AgUiEvent {
  const usage = [toUsage(model, used)];
  if (error) return { type: "RUN_ERROR", message: error.message, code: error.code, usage };
  const end = { type: "RUN_FINISHED", threadId, runId };
  return reason === "cancelled"
    ? { ...end, outcome: { type: reason }, usage }
    : { ...end, outcome: { type: "success" }, result: { reason }, usage };
}

/** The message that holds the result of a call. */
export function resultMessage(
  toolCallId: string,
  observation: ObservationObject,
): {
  readonly id: string;
  readonly role: "tool";
  readonly toolCallId: string;
  readonly content: string;
} {
  const { status, result_payload } = observation;
  const content = status.is_error
    ? describeErrors(observation)
    : JSON.stringify(result_payload.data ?? {});
  return { id: `${toolCallId}:result`, role: "tool", toolCallId, content };
}

function toUsage(model: string, usage: Usage): object {
  const { cacheWriteTokens: cacheWriteInputTokens, ...counts } = usage;
  const totalTokens = usage.inputTokens + usage.outputTokens;
  return { model, ...counts, totalTokens, cacheWriteInputTokens };
}
