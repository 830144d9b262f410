import { say } from "../../texts/say.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { joinNews, readApproval } from "../../approval/info.ts";
import type { AnswerState, Part, ToolPart } from "./answer.ts";
import { readProgress } from "./tool-outcome.ts";
import { hasResult, updateCall } from "./update-part.ts";

/**
 * Applies one item of a `data` chunk.
 * Contract: pure; never throws; an unknown or misplaced item changes nothing.
 */
export function applyData(state: AnswerState, item: JsonValue): AnswerState {
  if (!isJsonObject(item)) return state;
  const { type, runId, model, title, text } = item;
  switch (typeof type === "string" ? type : "") {
    case "run":
      if (typeof runId !== "string") return state;
      return { ...state, runId, ...(typeof model === "string" && { model }) };
    case "title":
      return typeof title === "string" ? { ...state, title } : state;
    case "tool-title":
      if (typeof title !== "string") return state;
      return updateCall(state, item, (part) => ({ ...part, title }));
    case "tool-progress":
      return updateCall(state, item, (part) =>
        part.state === "running"
          ? { ...part, progress: readProgress(item), ...foundIn(item) }
          : part,
      );
    case "withdrawn":
      return withdrawTexts(state, item["parts"]);
    case "outcome-awaited":
      return awaitOperator(state, item);
    case "approval-request":
      return requestApproval(state, item);
    case "approval-update":
      return updateApproval(state, item);
    case "model-changed":
      return changeModel(state, item);
    case "user-message":
      return typeof text === "string" ? addLine(state, { kind: "user", text }) : state;
    case "done":
      return endRun(state, item);
    default:
      return state;
  }
}

/** What a running tool has found so far; a report without it takes nothing back. */
function foundIn({ details }: JsonObject): Pick<ToolPart, "details"> {
  return isJsonObject(details) ? { details: { value: details } } : {};
}

/** Only words can be withdrawn: a tool call that ran cannot be taken back. */
function withdrawTexts(state: AnswerState, indices: JsonValue | undefined): AnswerState {
  if (!Array.isArray(indices)) return state;
  const parts = state.parts.map((part): Part => {
    const isWords = part.kind === "text" || part.kind === "reasoning";
    const isWithdrawn = isWords && indices.includes(part.index);
    return isWithdrawn ? { kind: "withdrawn", index: part.index } : part;
  });
  return { ...state, parts };
}

function awaitOperator(state: AnswerState, item: JsonObject): AnswerState {
  const { until } = item;
  const untilMs = typeof until === "string" ? Date.parse(until) : Number.NaN;
  const deadline = Number.isFinite(untilMs) && { resolveUntilMs: untilMs };
  return updateCall(state, item, (part) =>
    hasResult(part) ? part : { ...part, state: "awaiting_operator", ...deadline },
  );
}

function requestApproval(state: AnswerState, item: JsonObject): AnswerState {
  const { approval: summary, lines, packet } = item;
  const whole = isJsonObject(summary) && { ...summary, lines: lines ?? [], packet: packet ?? null };
  const approval = whole ? readApproval(whole) : undefined;
  if (!approval) return state;
  return updateCall(state, item, (part) =>
    hasResult(part) ? part : { ...part, state: "awaiting_approval", approval },
  );
}

/** Ignores news of an approval that another approval has replaced. */
function updateApproval(state: AnswerState, item: JsonObject): AnswerState {
  const news = readApproval(item["approval"]);
  return updateCall(state, item, (part) => {
    if (!news || part.approval?.approvalId !== news.approvalId) return part;
    const approval = joinNews(part.approval, news);
    const isOver = part.state === "awaiting_approval" && approval.status !== "pending";
    return { ...part, approval, state: isOver ? "requested" : part.state };
  });
}

function changeModel(state: AnswerState, { to }: JsonObject): AnswerState {
  if (typeof to !== "string") return state;
  const text = say("The model could not answer. {model} goes on.", { model: to });
  return { ...addLine(state, { kind: "note", text }), model: to };
}

/** Adds a line that is no part of the run. */
function addLine(
  state: AnswerState,
  line: { readonly kind: "user" | "note"; readonly text: string },
): AnswerState {
  const index = -1 - state.parts.length;
  return { ...state, parts: [...state.parts, { ...line, index }] };
}

function endRun(state: AnswerState, { reason, error }: JsonObject): AnswerState {
  if (typeof reason !== "string") return state;
  const { code, message } = isJsonObject(error) ? error : {};
  const failure = {
    ...(typeof code === "string" && { code }),
    ...(typeof message === "string" && { message }),
  };
  return { ...state, done: { reason, ...failure } };
}
