import {
  MAX_TOOL_ARGUMENTS_BYTES,
  MAX_TOOL_CALL_ID_CHARS,
  MAX_TOOL_RESULT_BYTES,
  type ToolCallId,
} from "../identity/ids.ts";
import { fail, ok, type Result } from "../outcome/result.ts";
import type { ChatMessage } from "../run/chat-request.ts";
import { utf8Bytes } from "../text/encoding.ts";
import type { TranscriptMessage, TranscriptToolCall } from "./message.ts";

/** Why client-sent history is refused; `pointer` is a JSON pointer into the body. */
export interface HistoryFailure {
  readonly code:
    | "tool_call_id_too_long"
    | "tool_args_too_large"
    | "tool_result_too_large"
    | "orphan_tool_result"
    | "unanswered_tool_call"
    | "duplicate_tool_call_id"
    | "misplaced_message";
  readonly pointer: string;
}

/**
 * Turns client-sent messages into a transcript. Checks what one message alone cannot show: each
 * result follows its call, each call has one result, and every result comes before the next other
 * message (seeds/001, "Contract layer").
 * Contract: pure; linear in the messages.
 */
export function toTranscript(
  messages: readonly ChatMessage[],
): Result<readonly TranscriptMessage[], HistoryFailure> {
  const transcript: TranscriptMessage[] = [];
  const history: OpenCalls = { seen: new Set(), unanswered: new Map() };
  for (const [index, message] of messages.entries()) {
    const pointer = `/messages/${index}`;
    if (message.role !== "tool" && history.unanswered.size > 0) {
      return fail({ code: "unanswered_tool_call", pointer });
    }
    if (message.role === "system" && index > 0) return fail({ code: "misplaced_message", pointer });
    const read = readMessage(message, { history, pointer });
    if (!read.ok) return read;
    transcript.push(read.value);
  }
  const lastPointer = `/messages/${messages.length - 1}`;
  if (history.unanswered.size > 0)
    return fail({ code: "unanswered_tool_call", pointer: lastPointer });
  const last = transcript.at(-1);
  return last?.role === "user" || last?.role === "tool"
    ? ok(transcript)
    : fail({ code: "misplaced_message", pointer: lastPointer });
}

/**
 * Tells why new messages cannot continue a stored conversation: a system message comes too late, or
 * a tool call repeats an id; undefined when they can.
 * Contract: pure; linear.
 */
export function checkContinuation(
  history: readonly TranscriptMessage[],
  added: readonly TranscriptMessage[],
): HistoryFailure | undefined {
  const used = new Set(history.flatMap(callIdsOf));
  for (const [index, message] of added.entries()) {
    const pointer = `/messages/${index}`;
    if (message.role === "system") return { code: "misplaced_message", pointer };
    if (callIdsOf(message).some((id) => used.has(id))) {
      return { code: "duplicate_tool_call_id", pointer };
    }
  }
  return undefined;
}

function callIdsOf(message: TranscriptMessage): readonly ToolCallId[] {
  return message.role === "assistant" ? message.toolCalls.map(({ toolCallId }) => toolCallId) : [];
}

interface OpenCalls {
  readonly seen: Set<string>;
  /** Tool names of calls without a result so far, by call id. */
  readonly unanswered: Map<string, string>;
}

type ReadResult<T> = Result<T, HistoryFailure>;
interface ReadContext {
  readonly history: OpenCalls;
  readonly pointer: string;
}

function readMessage(message: ChatMessage, context: ReadContext): ReadResult<TranscriptMessage> {
  switch (message.role) {
    case "system":
    case "user":
      return ok({ role: message.role, text: joinText(message.content) });
    case "assistant":
      return readAssistant(message.content, context);
    case "tool":
      return readToolResult(message.content, context);
  }
}

function readAssistant(
  content: Extract<ChatMessage, { role: "assistant" }>["content"],
  { history, pointer }: ReadContext,
): ReadResult<TranscriptMessage> {
  if (typeof content === "string") return ok({ role: "assistant", text: content, toolCalls: [] });
  const toolCalls: TranscriptToolCall[] = [];
  for (const [index, part] of content.entries()) {
    if (part.type !== "tool-call") continue;
    const at = `${pointer}/content/${index}`;
    const { toolCallId, toolName } = part;
    if (toolCallId.length > MAX_TOOL_CALL_ID_CHARS) {
      return fail({ code: "tool_call_id_too_long", pointer: `${at}/toolCallId` });
    }
    if (history.seen.has(toolCallId)) {
      return fail({ code: "duplicate_tool_call_id", pointer: `${at}/toolCallId` });
    }
    const argumentsText = JSON.stringify(part.args);
    if (utf8Bytes(argumentsText) > MAX_TOOL_ARGUMENTS_BYTES) {
      return fail({ code: "tool_args_too_large", pointer: `${at}/args` });
    }
    history.seen.add(toolCallId);
    history.unanswered.set(toolCallId, toolName);
    toolCalls.push({ toolCallId: toolCallId as ToolCallId, name: toolName, argumentsText });
  }
  const spoken = content.filter((part) => part.type === "text");
  return ok({ role: "assistant", text: joinText(spoken), toolCalls });
}

function readToolResult(
  content: Extract<ChatMessage, { role: "tool" }>["content"],
  { history, pointer }: ReadContext,
): ReadResult<TranscriptMessage> {
  const [part] = content;
  const at = `${pointer}/content/0`;
  if (part === undefined) return fail({ code: "misplaced_message", pointer });
  if (part.toolCallId.length > MAX_TOOL_CALL_ID_CHARS) {
    return fail({ code: "tool_call_id_too_long", pointer: `${at}/toolCallId` });
  }
  const name = history.unanswered.get(part.toolCallId);
  if (name === undefined || (part.toolName !== undefined && part.toolName !== name)) {
    return fail({ code: "orphan_tool_result", pointer: at });
  }
  if (utf8Bytes(JSON.stringify(part.result)) > MAX_TOOL_RESULT_BYTES) {
    return fail({ code: "tool_result_too_large", pointer: `${at}/result` });
  }
  history.unanswered.delete(part.toolCallId);
  return ok({
    role: "tool",
    toolCallId: part.toolCallId as ToolCallId,
    name,
    result: part.result,
  });
}

function joinText(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}
