import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { type ApprovalInfo, joinNews, readApproval } from "../approval/info.ts";
import { appendText, closeText, EMPTY_TEXT, type TextDocument } from "./text-blocks.ts";
import {
  type Field,
  readFields,
  readOutcome,
  readProgress,
  type ToolOutcome,
  type ToolProgress,
} from "./tool-outcome.ts";

export interface TextPart {
  readonly kind: "text";
  readonly index: number;
  readonly text: TextDocument;
}

/**
 * `asking`: people are asked whether the call may run. `waiting`: nobody knows what became of the call, and
 * an operator has been asked.
 */
export type ToolPartState = "called" | "asking" | "running" | "waiting" | "done" | "failed";

export interface ToolPart {
  readonly kind: "tool";
  readonly index: number;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: ToolPartState;
  readonly argsText: string;
  /** Set once the tool runs. */
  readonly args?: readonly Field[];
  readonly progress?: ToolProgress;
  /** How long an operator has to answer. Unit: Unix milliseconds. */
  readonly awaitedUntilMs?: number;
  /** The last question that people were asked about the call. */
  readonly approval?: ApprovalInfo;
  readonly outcome?: ToolOutcome;
}

/** What the reader said while the answer went on. */
export interface UserPart {
  readonly kind: "user";
  /** Below zero: no part of the run has such a number. */
  readonly index: number;
  readonly text: string;
}

/** Keeps the place of a text that is no part of the answer: nothing of it is kept. */
export interface WithdrawnPart {
  readonly kind: "withdrawn";
  readonly index: number;
}

export type Part = TextPart | ToolPart | UserPart | WithdrawnPart;

/** What a run has said so far. */
export interface AnswerState {
  readonly parts: readonly Part[];
  readonly runId?: string;
  readonly model?: string;
  readonly title?: string;
  /** Set once the run ended. `code` and `message` belong to a failed run. */
  readonly done?: {
    readonly reason: string;
    readonly code?: string;
    readonly message?: string;
  };
}

export const EMPTY_ANSWER: AnswerState = { parts: [] };

/**
 * Applies one chunk of the assistant-transport protocol.
 * Contract: pure; never throws; a chunk that is unknown, or that fits nothing, changes nothing.
 */
export function applyChunk(state: AnswerState, chunk: JsonObject): AnswerState {
  const type = typeof chunk["type"] === "string" ? chunk["type"] : "";
  switch (type) {
    case "part-start":
      return startPart(state, chunk);
    case "text-delta": {
      const delta = chunk["textDelta"];
      return typeof delta === "string" ? growPart(state, chunk, delta) : state;
    }
    case "tool-call-args-text-finish":
      return updateTool(state, chunk, (part) => ({
        ...part,
        state: "running",
        args: readFields(parseJson(part.argsText)),
      }));
    case "result":
      return updateTool(state, chunk, (part) => ({
        ...part,
        state: chunk["isError"] === true ? "failed" : "done",
        outcome: readOutcome(chunk["result"] ?? null),
      }));
    case "part-finish":
      return updatePart(state, chunk, (part) =>
        part.kind === "text" ? { ...part, text: closeText(part.text) } : part,
      );
    case "data":
      return Array.isArray(chunk["data"]) ? chunk["data"].reduce(applyData, state) : state;
    default:
      return state;
  }
}

function applyData(state: AnswerState, item: JsonValue): AnswerState {
  if (!isJsonObject(item)) return state;
  const { type, runId, model, title, text, reason, error } = item;
  if (type === "run" && typeof runId === "string") {
    return { ...state, runId, ...(typeof model === "string" && { model }) };
  }
  if (type === "title" && typeof title === "string") return { ...state, title };
  if (type === "tool-progress") return showProgress(state, item);
  if (type === "withdrawn") return withdraw(state, item["parts"]);
  if (type === "outcome-awaited") return awaitOutcome(state, item);
  if (type === "approval-request") return requestApproval(state, item);
  if (type === "approval-update") return hearPeople(state, item);
  if (type === "user-message" && typeof text === "string") {
    const index = -1 - state.parts.length;
    return { ...state, parts: [...state.parts, { kind: "user", index, text }] };
  }
  if (type === "done" && typeof reason === "string") {
    const { code, message } = isJsonObject(error) ? error : {};
    const words = {
      ...(typeof code === "string" && { code }),
      ...(typeof message === "string" && { message }),
    };
    return { ...state, done: { reason, ...words } };
  }
  return state;
}

function startPart(state: AnswerState, chunk: JsonObject): AnswerState {
  const index = indexOf(chunk);
  const part = chunk["part"];
  if (index === undefined || !isJsonObject(part) || find(state, index) !== -1) return state;
  if (part["type"] === "text") {
    return { ...state, parts: [...state.parts, { kind: "text", index, text: EMPTY_TEXT }] };
  }
  if (part["type"] !== "tool-call") return state;
  const { toolName, toolCallId } = part;
  const tool: ToolPart = {
    kind: "tool",
    index,
    toolCallId: typeof toolCallId === "string" ? toolCallId : "",
    toolName: typeof toolName === "string" ? toolName : "",
    state: "called",
    argsText: "",
  };
  return { ...state, parts: [...state.parts, tool] };
}

function showProgress(state: AnswerState, item: JsonObject): AnswerState {
  return updateCall(state, item, (part) =>
    part.state === "running" ? { ...part, progress: readProgress(item) } : part,
  );
}

function awaitOutcome(state: AnswerState, item: JsonObject): AnswerState {
  const { until } = item;
  const untilMs = typeof until === "string" ? Date.parse(until) : Number.NaN;
  const awaited = Number.isFinite(untilMs) && { awaitedUntilMs: untilMs };
  return updateCall(state, item, (part) =>
    isSettled(part) ? part : { ...part, state: "waiting", ...awaited },
  );
}

function requestApproval(state: AnswerState, item: JsonObject): AnswerState {
  const { approval: summary, lines, packet } = item;
  const whole = isJsonObject(summary) && { ...summary, lines: lines ?? [], packet: packet ?? null };
  const approval = whole ? readApproval(whole) : undefined;
  if (!approval) return state;
  return updateCall(state, item, (part) =>
    isSettled(part) ? part : { ...part, state: "asking", approval },
  );
}

/** News of a question that another one has replaced says nothing new. */
function hearPeople(state: AnswerState, item: JsonObject): AnswerState {
  const news = readApproval(item["approval"]);
  return updateCall(state, item, (part) => {
    if (!news || part.approval?.approvalId !== news.approvalId) return part;
    const approval = joinNews(part.approval, news);
    const isOver = part.state === "asking" && approval.status !== "pending";
    return { ...part, approval, state: isOver ? "called" : part.state };
  });
}

/** Only text can be withdrawn: what a tool did stays done. */
function withdraw(state: AnswerState, indices: JsonValue | undefined): AnswerState {
  if (!Array.isArray(indices)) return state;
  const parts = state.parts.map((part): Part => {
    const isWithdrawn = part.kind === "text" && indices.includes(part.index);
    return isWithdrawn ? { kind: "withdrawn", index: part.index } : part;
  });
  return { ...state, parts };
}

/** Updates the call that a data item names. */
function updateCall(
  state: AnswerState,
  item: JsonObject,
  update: (part: ToolPart) => ToolPart,
): AnswerState {
  const position = state.parts.findLastIndex(
    (part) => part.kind === "tool" && part.toolCallId === item["toolCallId"],
  );
  const part = state.parts[position];
  if (part?.kind !== "tool") return state;
  return { ...state, parts: state.parts.with(position, update(part)) };
}

function growPart(state: AnswerState, chunk: JsonObject, delta: string): AnswerState {
  return updatePart(state, chunk, (part) => {
    if (part.kind === "text") return { ...part, text: appendText(part.text, delta) };
    const isOpen = part.kind === "tool" && (part.state === "called" || part.state === "asking");
    return isOpen ? { ...part, argsText: part.argsText + delta } : part;
  });
}

function updateTool(
  state: AnswerState,
  chunk: JsonObject,
  update: (part: ToolPart) => ToolPart,
): AnswerState {
  return updatePart(state, chunk, (part) =>
    part.kind !== "tool" || isSettled(part) ? part : update(part),
  );
}

function isSettled({ state }: ToolPart): boolean {
  return state === "done" || state === "failed";
}

function updatePart(
  state: AnswerState,
  chunk: JsonObject,
  update: (part: Part) => Part,
): AnswerState {
  const position = find(state, indexOf(chunk));
  const part = state.parts[position];
  return part ? { ...state, parts: state.parts.with(position, update(part)) } : state;
}

/** Newest first, because that is the part that grows. */
function find(state: AnswerState, index: number | undefined): number {
  return state.parts.findLastIndex((part) => part.index === index);
}

function indexOf(chunk: JsonObject): number | undefined {
  const path = chunk["path"];
  const index: unknown = Array.isArray(path) && path.length === 1 ? path[0] : undefined;
  return typeof index === "number" && index >= 0 ? index : undefined;
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
