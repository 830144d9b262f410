import type { Feedback } from "../../../protocol/conversation/feedback.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";

/** One turn, as `GET /v1/conversations/:id/messages` has it. */
export interface ReadTurn {
  readonly runId: string;
  /** Undefined at a root. */
  readonly parentId: string | undefined;
  readonly messageId: string | undefined;
  readonly question: string;
  /** What the stream of the run would tell. */
  readonly chunks: readonly JsonObject[];
  readonly isOver: boolean;
  /** The page cannot ask the question again: it has files, or more than one text. */
  readonly isFixed: boolean;
  readonly feedback: Feedback | undefined;
}

/** Reads a turn; undefined for any other value. Contract: never throws. */
export function readTurn(value: JsonValue): ReadTurn | undefined {
  if (!isJsonObject(value) || typeof value["runId"] !== "string") return undefined;
  const { runId, reason, error = null, title = null } = value;
  const messages = listOf(value["messages"]);
  const [asked] = messages;
  const isQuestion = asked?.["role"] === "user";
  const isOver = typeof reason === "string";
  const told = (isQuestion ? messages.slice(1) : messages).flatMap(readMessage(createCounter()));
  return {
    runId,
    parentId: textOf(value["parentId"]),
    messageId: textOf(value["messageId"]),
    question: isQuestion ? readText(asked) : "",
    chunks: [
      data({ type: "title", title }),
      ...told,
      ...(isOver ? [data({ type: "done", reason, error })] : []),
    ],
    isOver,
    isFixed: !isQuestion || asked["files"] !== undefined || isSaidToo(messages[1]),
    feedback: readFeedback(value["feedback"]),
  };
}

/** Tells whether a message stands before the answer: an answer that was posted, or more words. */
function isSaidToo(message: JsonObject | undefined): boolean {
  return message !== undefined && message["parts"] === undefined;
}

function readFeedback(value: JsonValue | undefined): Feedback | undefined {
  const { rating, comment } = isJsonObject(value) ? value : {};
  if (rating !== "up" && rating !== "down") return undefined;
  return { rating, comment: textOf(comment) };
}

/** Numbers the parts of an answer as its stream does. */
function createCounter(): () => number {
  let next = 0;
  return () => next++;
}

function readMessage(nextPart: () => number): (message: JsonObject) => readonly JsonObject[] {
  return (message) => {
    const text = readText(message);
    if (message["role"] === "user") return [data({ type: "user-message", text })];
    if (message["isClaimed"] === true) return readWords("text", text, nextPart());
    return listOf(message["parts"]).flatMap((part) => readPart(part, nextPart()));
  };
}

/** Reads what was said. The content of a file is not told: only what it is. */
function readText({ text, files }: JsonObject): string {
  const names = listOf(files).map(
    ({ name, type }) => `[${textOf(name) ?? textOf(type) ?? "file"}]`,
  );
  return [textOf(text) ?? "", ...names].filter(Boolean).join("\n");
}

function readPart(part: JsonObject, index: number): readonly JsonObject[] {
  const { type } = part;
  if (type === "text" || type === "reasoning") {
    return readWords(type, textOf(part["text"]) ?? "", index);
  }
  return type === "tool-call" ? readCall(part, [index]) : [];
}

function readWords(type: string, textDelta: string, index: number): readonly JsonObject[] {
  const path = [index];
  return [
    { type: "part-start", path, part: { type } },
    { type: "text-delta", path, textDelta },
    { type: "part-finish", path },
  ];
}

function readCall(call: JsonObject, path: readonly number[]): readonly JsonObject[] {
  const { toolCallId = null, toolName = null, args, approval, lines = [], result } = call;
  const { content, details } = call;
  const status = isJsonObject(result) ? result["status"] : undefined;
  const isError = isJsonObject(status) && status["is_error"] === true;
  const artifact = { ...(content && { content }), ...(details && { details }) };
  return [
    { type: "part-start", path, part: { type: "tool-call", toolCallId, toolName } },
    ...(approval ? [data({ type: "approval-request", toolCallId, approval, lines })] : []),
    ...(args === undefined
      ? []
      : [
          { type: "text-delta", path, textDelta: JSON.stringify(args) },
          { type: "tool-call-args-text-finish", path },
        ]),
    ...(result === undefined ? [] : [{ type: "result", path, result, isError, artifact }]),
  ];
}

function data(item: JsonObject): JsonObject {
  return { type: "data", path: [], data: [item] };
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
