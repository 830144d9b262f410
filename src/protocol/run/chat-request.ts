import * as v from "valibot";
import { connectionId } from "../connection/stored.ts";
import {
  MAX_TOOL_ARGUMENTS_BYTES,
  MAX_TOOL_CALL_ID_CHARS,
  MAX_TOOL_RESULT_BYTES,
  type ToolCallId,
} from "../identity/ids.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";
import { utf8Bytes } from "../text/encoding.ts";
import { fail, ok, type Result } from "../outcome/result.ts";
import type { TranscriptMessage, TranscriptToolCall } from "../conversation/message.ts";

const text = v.strictObject({ type: v.literal("text"), text: v.string() });
const toolCall = v.strictObject({
  type: v.literal("tool-call"),
  toolCallId: v.pipe(v.string(), v.nonEmpty()),
  toolName: v.pipe(v.string(), v.nonEmpty(), v.maxLength(128)),
  args: v.custom<JsonObject>(isJsonObject, "a JSON object"),
});
const toolResult = v.strictObject({
  type: v.literal("tool-result"),
  toolCallId: v.pipe(v.string(), v.nonEmpty()),
  toolName: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  result: v.custom<JsonValue>((value) => value !== undefined, "a JSON value"),
});
const texts = v.union([v.string(), v.array(text)], "a text, or a list of text parts");

/** The body of `POST /v1/chat`, closed: a field it does not name is refused. */
export const chatRequestBody = v.strictObject({
  messages: v.pipe(
    v.array(
      v.variant("role", [
        v.strictObject({ role: v.literal("system"), content: texts }),
        v.strictObject({ role: v.literal("user"), content: texts }),
        v.strictObject({
          role: v.literal("assistant"),
          content: v.union(
            [v.string(), v.array(v.variant("type", [text, toolCall]))],
            "a text, or a list of text and tool-call parts",
          ),
        }),
        v.strictObject({
          role: v.literal("tool"),
          content: v.pipe(v.array(toolResult), v.length(1, "exactly one tool-result")),
        }),
      ]),
    ),
    v.minLength(1),
    v.maxLength(1000),
  ),
  model: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(128))),
  toolIds: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(128))),
  connectionIds: v.optional(v.pipe(v.array(connectionId), v.maxLength(16))),
  previousRunId: v.optional(v.pipe(v.string(), v.maxLength(128))),
});

export type ChatRequestBody = v.InferOutput<typeof chatRequestBody>;
type ChatMessage = ChatRequestBody["messages"][number];

/** What is wrong with client-sent history; `pointer` is a JSON pointer into the body. */
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
 * Turns client-sent messages into a transcript, checking what one message alone cannot show: a result
 * follows its call, once, and every call is answered before anyone speaks again (seeds/001,
 * "Contract layer").
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
 * Tells what keeps new messages from following a conversation that the server kept: a system message
 * that would come late, or the id of a call that was made before.
 * Contract: pure; linear.
 */
export function checkContinuation(
  history: readonly TranscriptMessage[],
  said: readonly TranscriptMessage[],
): HistoryFailure | undefined {
  const used = new Set(history.flatMap(callIdsOf));
  for (const [index, message] of said.entries()) {
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
  /** Tool name by id of a call without a result so far. */
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
