import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import type { AnswerState, Part, ReasoningPart, TextPart, ToolPart } from "./answer.ts";
import { applyData } from "./apply-data.ts";
import { readFields } from "./fields.ts";
import { appendText, EMPTY_TEXT, endText } from "../../markdown/growing-text.ts";
import { readToolContent } from "./tool-content.ts";
import { readToolDetails } from "./tool-details.ts";
import { readOutcome } from "./tool-outcome.ts";
import { findPosition, indexOf, updatePart, updateTool } from "./update-part.ts";

/**
 * Applies one chunk of the assistant-transport protocol.
 * Contract: pure; never throws; an unknown or misplaced chunk changes nothing.
 */
export function applyChunk(state: AnswerState, chunk: JsonObject): AnswerState {
  const { type } = chunk;
  switch (typeof type === "string" ? type : "") {
    case "part-start":
      return startPart(state, chunk);
    case "text-delta":
      return growPart(state, chunk);
    case "tool-call-args-text-finish":
      return updateTool(state, chunk, (part) => {
        const rawArgs = parseJson(part.argsText);
        return { ...part, state: "running", args: readFields(rawArgs), rawArgs };
      });
    case "result":
      return updateTool(state, chunk, (part) => ({
        ...part,
        state: chunk["isError"] === true ? "failed" : "done",
        outcome: readOutcome(chunk["result"] ?? null),
        content: readToolContent(chunk["artifact"]),
        details: readToolDetails(chunk["artifact"]),
      }));
    case "part-finish":
      return updatePart(state, chunk, (part) =>
        hasWords(part) ? { ...part, text: endText(part.text) } : part,
      );
    case "data":
      return Array.isArray(chunk["data"]) ? chunk["data"].reduce(applyData, state) : state;
    default:
      return state;
  }
}

function startPart(state: AnswerState, chunk: JsonObject): AnswerState {
  const index = indexOf(chunk);
  const part = chunk["part"];
  if (index === undefined || !isJsonObject(part) || findPosition(state, index) !== -1) return state;
  const kind = part["type"];
  if (kind === "text" || kind === "reasoning") {
    return { ...state, parts: [...state.parts, { kind, index, text: EMPTY_TEXT }] };
  }
  if (kind !== "tool-call") return state;
  const { toolName, toolCallId } = part;
  const tool: ToolPart = {
    kind: "tool",
    index,
    toolCallId: typeof toolCallId === "string" ? toolCallId : "",
    toolName: typeof toolName === "string" ? toolName : "",
    state: "requested",
    argsText: "",
  };
  return { ...state, parts: [...state.parts, tool] };
}

function growPart(state: AnswerState, chunk: JsonObject): AnswerState {
  const delta = chunk["textDelta"];
  if (typeof delta !== "string") return state;
  return updatePart(state, chunk, (part) => {
    if (hasWords(part)) return { ...part, text: appendText(part.text, delta) };
    if (part.kind !== "tool") return part;
    const isOpen = part.state === "requested" || part.state === "awaiting_approval";
    return isOpen ? { ...part, argsText: part.argsText + delta } : part;
  });
}

function hasWords(part: Part): part is TextPart | ReasoningPart {
  return part.kind === "text" || part.kind === "reasoning";
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
