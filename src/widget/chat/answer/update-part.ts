import type { JsonObject } from "../../../protocol/json/value.ts";
import type { AnswerState, Part, ToolPart } from "./answer.ts";

/** Updates the part that a chunk's path names. A path that names no part changes nothing. */
export function updatePart(
  state: AnswerState,
  chunk: JsonObject,
  update: (part: Part) => Part,
): AnswerState {
  const position = findPosition(state, indexOf(chunk));
  const part = state.parts[position];
  return part ? { ...state, parts: state.parts.with(position, update(part)) } : state;
}

/** Updates the tool part that a chunk's path names, as long as its call has no result. */
export function updateTool(
  state: AnswerState,
  chunk: JsonObject,
  update: (part: ToolPart) => ToolPart,
): AnswerState {
  return updatePart(state, chunk, (part) =>
    part.kind !== "tool" || hasResult(part) ? part : update(part),
  );
}

/** Updates the tool part whose call a data item names. */
export function updateCall(
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

export function hasResult({ state }: ToolPart): boolean {
  return state === "done" || state === "failed";
}

/** Returns the part index in a chunk's path, or undefined when the path is none of a part. */
export function indexOf(chunk: JsonObject): number | undefined {
  const path = chunk["path"];
  const index: unknown = Array.isArray(path) && path.length === 1 ? path[0] : undefined;
  return typeof index === "number" && index >= 0 ? index : undefined;
}

/** Returns the position of a part, or -1. Searches the newest first, because that part grows. */
export function findPosition(state: AnswerState, index: number | undefined): number {
  return state.parts.findLastIndex((part) => part.index === index);
}
