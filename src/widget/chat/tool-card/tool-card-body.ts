import type { ToolCard, ToolCardCall } from "../../cards/define-tool-card.ts";
import { drawPart } from "../../cards/draw-part.ts";
import { isJsonObject } from "../../../protocol/json/value.ts";
import { el } from "../../dom.ts";
import type { ToolPart } from "../answer/answer.ts";
import { readFields, type Field } from "../answer/fields.ts";

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
    ...drawSection("Input", call.args && drawPart(card, "input", call), args),
    ...drawSection("Result", call.result && drawPart(card, "result", call), outcome?.fields ?? []),
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
  const title = state === "running" ? "Found so far" : "Details";
  return drawSection(title, drawn, readFields(details.value));
}

function drawSection(
  title: string,
  drawn: readonly Node[] | undefined,
  fields: readonly Field[],
): HTMLElement[] {
  if (drawn) return drawn.length === 0 ? [] : [el("section", { "aria-label": title }, ...drawn)];
  return fields.length === 0 ? [] : [drawFields(title, fields)];
}

function drawFields(title: string, fields: readonly Field[]): HTMLElement {
  const rows = fields.map(({ label, value }) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, value)),
  );
  const heading = el("p", { class: "caption" }, title);
  return el("section", { "aria-label": title }, heading, el("dl", {}, ...rows));
}
