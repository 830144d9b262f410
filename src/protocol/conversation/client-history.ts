import { MAX_TOOL_CALL_ID_CHARS, type ToolCallId } from "../identity/ids.ts";
import { isJsonObject, type JsonValue } from "../json/value.ts";
import { fail, ok, type Result } from "../outcome/result.ts";
import type { ChatMessage, SentFile } from "../run/chat-request.ts";
import { utf8Bytes } from "../text/encoding.ts";
import type { FilePart, UserPart } from "./file-part.ts";
import type { Sources } from "../label/source.ts";
import type { ShownContent } from "../tool/content.ts";
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
 * Largest arguments, result and texts beside it of one tool's calls. Unit: bytes of JSON in UTF-8.
 */
export interface CallLimits {
  readonly maxArgumentsBytes: number;
  readonly maxResultBytes: number;
  readonly maxTextBytes: number;
}

/** Finds the limits of a tool by its name, also for a name that no tool has. */
export type LimitsOf = (toolName: string) => CallLimits;

/** What client-sent messages are read with. */
export interface HistoryRules {
  readonly limitsOf: LimitsOf;
  /** The checked files of the messages. */
  readonly files: ReadonlyMap<SentFile, FilePart>;
}

/**
 * Turns client-sent messages into a transcript. Checks what one message alone cannot show: each
 * result follows its call, each call has one result, and every result comes before the next other
 * message (seeds/001, "Contract layer").
 * Contract: pure; linear in the messages. Accepts every call and result that a stream delivered
 * under the same limits, with its content. What a stream sent as reasoning reaches no model again.
 */
export function toTranscript(
  messages: readonly ChatMessage[],
  { limitsOf, files }: HistoryRules,
): Result<readonly TranscriptMessage[], HistoryFailure> {
  const transcript: TranscriptMessage[] = [];
  const history: OpenCalls = { seen: new Set(), unanswered: new Map() };
  for (const [index, message] of messages.entries()) {
    const pointer = `/messages/${index}`;
    if (message.role !== "tool" && history.unanswered.size > 0) {
      return fail({ code: "unanswered_tool_call", pointer });
    }
    if (message.role === "system" && index > 0) return fail({ code: "misplaced_message", pointer });
    const read = readMessage(message, { history, pointer, limitsOf, files });
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
interface ReadContext extends HistoryRules {
  readonly history: OpenCalls;
  readonly pointer: string;
}

function readMessage(message: ChatMessage, context: ReadContext): ReadResult<TranscriptMessage> {
  switch (message.role) {
    case "system":
      return ok({ role: "system", text: joinText(message.content) });
    case "user":
      return ok(readUser(message.content, context));
    case "assistant":
      return readAssistant(message.content, context);
    case "tool":
      return readToolResult(message.content, context);
  }
}

function readUser(
  content: Extract<ChatMessage, { role: "user" }>["content"],
  { files }: ReadContext,
): TranscriptMessage {
  if (typeof content === "string") return { role: "user", text: content };
  const text = joinText(content.filter((part) => part.type === "text"));
  const parts: UserPart[] = [];
  for (const part of content) {
    const last = parts.at(-1);
    const file = part.type === "text" ? undefined : files.get(part);
    if (file) parts.push(file);
    else if (part.type !== "text") continue;
    else if (last?.type === "text") parts.splice(-1, 1, { ...last, text: last.text + part.text });
    else parts.push(part);
  }
  return parts.some(({ type }) => type !== "text")
    ? { role: "user", text, parts, sources: [{ kind: "file" }] }
    : { role: "user", text };
}

function readAssistant(
  content: Extract<ChatMessage, { role: "assistant" }>["content"],
  { history, pointer, limitsOf }: ReadContext,
): ReadResult<TranscriptMessage> {
  if (typeof content === "string") {
    return ok({ role: "assistant", text: content, toolCalls: [], sources: POSTED });
  }
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
    if (utf8Bytes(argumentsText) > limitsOf(toolName).maxArgumentsBytes) {
      return fail({ code: "tool_args_too_large", pointer: `${at}/args` });
    }
    history.seen.add(toolCallId);
    history.unanswered.set(toolCallId, toolName);
    toolCalls.push({ toolCallId: toolCallId as ToolCallId, name: toolName, argumentsText });
  }
  const spoken = content.filter((part) => part.type === "text");
  return ok({ role: "assistant", text: joinText(spoken), toolCalls, sources: POSTED });
}

/** Nobody can tell who wrote what a client posts as an answer or a result. */
const POSTED: Sources = [{ kind: "history" }];

function readToolResult(
  content: Extract<ChatMessage, { role: "tool" }>["content"],
  { history, pointer, limitsOf }: ReadContext,
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
  if (exceeds(part.result, limitsOf(name).maxResultBytes)) {
    return fail({ code: "tool_result_too_large", pointer: `${at}/result` });
  }
  const beside = part.content ?? part.artifact?.content ?? [];
  const texts = beside.flatMap((one) => (one.type === "text" ? one.text : []));
  if (jsonBytes(texts) > limitsOf(name).maxTextBytes + MAX_NOTES_BYTES) {
    return fail({ code: "tool_result_too_large", pointer: at });
  }
  history.unanswered.delete(part.toolCallId);
  return ok({
    role: "tool",
    toolCallId: part.toolCallId as ToolCallId,
    name,
    result: part.result,
    ...(beside.length > 0 && { content: beside.map(withoutImage) }),
    sources: POSTED,
  });
}

/** The bytes of an image never come from a result that a client sends. */
function withoutImage(part: ShownContent): Extract<ShownContent, { type: "text" }> {
  if (part.type === "text") return part;
  return { type: "text", text: `[An image is left out: ${part.mediaType}, ${part.bytes} bytes.]` };
}

/** Most bytes of the notes that a stream has in place of images for which there was no room. */
const MAX_NOTES_BYTES = 4 * 1024;
/** Most bytes of an observation beside its data: its errors are at most 16 of 1,012 characters. */
const MAX_ENVELOPE_BYTES = 128 * 1024;

/** Tells whether a result is too large. Of an observation, the tool's limit bounds the data. */
function exceeds(result: JsonValue, maxBytes: number): boolean {
  const payload = isJsonObject(result) ? result["result_payload"] : undefined;
  const isObservation = isJsonObject(payload) && Object.hasOwn(payload, "data");
  const measured = isObservation ? (payload["data"] ?? null) : result;
  const bytes = jsonBytes(measured);
  return bytes > maxBytes || jsonBytes(result) - bytes > MAX_ENVELOPE_BYTES;
}

function jsonBytes(value: JsonValue): number {
  return utf8Bytes(JSON.stringify(value));
}

function joinText(content: string | readonly { readonly text: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text).join("");
}
