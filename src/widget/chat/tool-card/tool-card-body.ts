import { say } from "../../texts/say.ts";
import type { ToolCard, ToolCardCall } from "../../cards/define-tool-card.ts";
import { drawPart } from "../../cards/draw-part.ts";
import { isJsonObject } from "../../../protocol/json/value.ts";
import { el } from "../../dom.ts";
import type { ToolPart } from "../answer/answer.ts";
import type { ToolOutcome } from "../answer/tool-outcome.ts";
import { drawDataView, drawFields } from "./data-view.ts";

/** Returns a call as the cards of embedders get it. */
export function describeCall(part: ToolPart): ToolCardCall {
  const { toolCallId, toolName, title, state, approval, outcome, progress, details } = part;
  const args = part.rawArgs ?? approval?.editable;
  return {
    toolCallId,
    toolId: toolName,
    ...(title !== undefined && { title }),
    state,
    ...(isJsonObject(args) && { args }),
    ...(progress && { progress }),
    ...(approval && { approval: { title: approval.title, riskClass: approval.riskClass } }),
    ...(state === "done" && isJsonObject(outcome?.data) && { result: outcome.data }),
    ...(details && "value" in details && { details: details.value }),
  };
}

/** Draws input and result of a call: as its card says, else as lists of fields. */
export function drawBody(part: ToolPart, card: ToolCard | undefined): Node[] {
  const { args = [], outcome } = part;
  const call = describeCall(part);
  return [
    ...drawSection(say("Input"), call.args && drawPart(card, "input", call), drawFields(args)),
    ...drawSection(
      say("Result"),
      call.result && drawPart(card, "result", call),
      drawResult(outcome),
    ),
    ...drawDetails(part, call.details && drawPart(card, "details", call)),
    ...(outcome?.errors ?? []).map((error) => el("p", { class: "error" }, error)),
    ...(outcome?.warnings ?? []).map((text) => el("p", { class: "warning" }, text)),
  ];
}

function drawDetails(
  { details, state }: ToolPart,
  drawn: readonly Node[] | undefined,
): HTMLElement[] {
  if (!details) return [];
  if ("leftOut" in details) return [el("p", { class: "warning" }, details.leftOut)];
  const title = state === "running" ? say("Found so far") : say("Details");
  return drawSection(title, drawn, drawDataView(details.value));
}

function drawResult(outcome: ToolOutcome | undefined): readonly HTMLElement[] {
  return outcome ? drawDataView(outcome.data) : [];
}

function drawSection(
  title: string,
  own: readonly Node[] | undefined,
  data: readonly HTMLElement[],
): HTMLElement[] {
  if (own) return own.length === 0 ? [] : [el("section", { "aria-label": title }, ...own)];
  const heading = el("p", { class: "caption" }, title);
  return data.length === 0 ? [] : [el("section", { "aria-label": title }, heading, ...data)];
}
