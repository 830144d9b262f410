import { ApprovalCard, type ApprovalCardPorts } from "../approval/card.ts";
import type { ToolPart } from "./answer.ts";
import { el, icon, setText } from "../dom.ts";
import { type Field, friendlyName } from "./fields.ts";
import { createProgress } from "./tool-progress.ts";
import { CARD_STATES, cardStateOf, describeUnknownOutcome } from "./tool-state.ts";

/** Shows one tool call: its tool, input, state, approval and result. */
export class ToolCard {
  readonly root = el("details", { class: "tool", open: "" });
  readonly #approvals: ApprovalCardPorts;
  readonly #badge = el("span", { class: "badge" });
  readonly #mark = el("span", { class: "mark" });
  readonly #progress: ReturnType<typeof createProgress>;
  readonly #unknownOutcome = el("p", { class: "unknown-outcome", hidden: "" });
  readonly #approval = el("div", { class: "tool-approval", hidden: "" });
  readonly #body = el("div", { class: "body" });
  #card: ApprovalCard | undefined;
  #shown: { readonly part: ToolPart; readonly isOver: boolean } | undefined;

  constructor(toolName: string, approvals: ApprovalCardPorts) {
    this.#approvals = approvals;
    const name = friendlyName(toolName);
    const title = el("span", { class: "name", title: toolName }, name);
    this.#progress = createProgress(name);
    this.root.append(
      el("summary", {}, this.#mark, title, this.#badge),
      this.#progress.root,
      this.#unknownOutcome,
      this.#approval,
      this.#body,
    );
  }

  /** Draws a call. `isOver` tells that the run ended, so the call gets no more result. */
  update(part: ToolPart, isOver: boolean): void {
    const shown = this.#shown;
    if (shown?.part === part && shown.isOver === isOver) return;
    this.#shown = { part, isOver };
    const state = cardStateOf(part, isOver);
    this.root.dataset["state"] = state;
    setText(this.#badge, CARD_STATES[state].label);
    this.#mark.replaceChildren(icon(CARD_STATES[state].icon));
    this.#progress.update(state === "running" ? part.progress : undefined);
    const explanation = describeUnknownOutcome(part, isOver);
    setText(this.#unknownOutcome, explanation);
    this.#unknownOutcome.hidden = explanation === "";
    this.#drawApproval(part);
    this.#approval.hidden = !part.approval || state === "done" || state === "stopped";
    const isBodyOld = shown?.part.args !== part.args || shown?.part.outcome !== part.outcome;
    if (isBodyOld) this.#body.replaceChildren(...drawBody(part));
    this.#body.hidden = this.#body.childElementCount === 0;
  }

  #drawApproval({ approval }: ToolPart): void {
    if (!approval) return;
    this.#card ??= new ApprovalCard(this.#approvals, approval);
    this.#card.update(approval);
    const { root } = this.#card;
    if (!root.isConnected) this.#approval.replaceChildren(root);
  }
}

function drawBody({ args = [], outcome }: ToolPart): HTMLElement[] {
  const sections = [];
  if (args.length > 0) sections.push(drawFields("Input", args));
  if (outcome && outcome.fields.length > 0) sections.push(drawFields("Result", outcome.fields));
  for (const error of outcome?.errors ?? []) sections.push(el("p", { class: "error" }, error));
  for (const text of outcome?.warnings ?? []) sections.push(el("p", { class: "warning" }, text));
  return sections;
}

function drawFields(title: string, fields: readonly Field[]): HTMLElement {
  const rows = fields.map(({ label, value }) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, value)),
  );
  const heading = el("p", { class: "caption" }, title);
  return el("section", { "aria-label": title }, heading, el("dl", {}, ...rows));
}
