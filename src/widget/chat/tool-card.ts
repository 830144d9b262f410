import { type ApprovalCard, type ApprovalCardPorts, createApprovalCard } from "../approval/card.ts";
import { el, icon, setText } from "../dom.ts";
import { type Field, friendlyName, type ToolProgress } from "./tool-outcome.ts";
import type { ToolPart } from "./view-state.ts";

export interface ToolCard {
  readonly root: HTMLElement;
  /** `isOver` tells that the run ended, so a call without a result will get none. */
  update(part: ToolPart, isOver: boolean): void;
}

const STATES = {
  called: { label: "Called", icon: "M10 4v6l4 2" },
  asking: {
    label: "Waiting for approval",
    icon: "M10 3l6 2.5v4c0 4-2.5 6.5-6 7.5-3.5-1-6-3.5-6-7.5v-4z",
  },
  running: { label: "Running", icon: "M10 3a7 7 0 1 1-6.6 4.7" },
  waiting: { label: "Waiting", icon: "M6.5 5v10m7-10v10" },
  done: { label: "Done", icon: "M4.5 10.5l3.5 3.5 7.5-8" },
  failed: { label: "Failed", icon: "M5.5 5.5l9 9m0-9l-9 9" },
  unknown: { label: "Not known", icon: "M7 7.5a3 3 0 1 1 3 3.5v1.5m0 2.5v.5" },
  stopped: { label: "Stopped", icon: "M6 6h8v8H6z" },
} as const;

/** Shows one tool call: what was asked of which tool, and what came of it. */
export function createToolCard(toolName: string, approvals: ApprovalCardPorts): ToolCard {
  const name = friendlyName(toolName);
  const badge = el("span", { class: "badge" });
  const mark = el("span", { class: "mark" });
  const body = el("div", { class: "body" });
  const title = el("span", { class: "name", title: toolName }, name);
  const summary = el("summary", {}, mark, title, badge);
  const progress = createProgress(name);
  const doubt = el("p", { class: "doubt", hidden: "" });
  const question = el("div", { class: "question-of-call", hidden: "" });
  const root = el(
    "details",
    { class: "tool", open: "" },
    summary,
    progress.root,
    doubt,
    question,
    body,
  );
  let card: ApprovalCard | undefined;
  let shown: { readonly part: ToolPart; readonly isOver: boolean } | undefined;
  return {
    root,
    update(part, isOver) {
      if (shown?.part === part && shown.isOver === isOver) return;
      const isBodyOld = shown?.part.args !== part.args || shown?.part.outcome !== part.outcome;
      shown = { part, isOver };
      const state = stateOf(part, isOver);
      root.dataset["state"] = state;
      setText(badge, STATES[state].label);
      mark.replaceChildren(icon(STATES[state].icon));
      progress.update(state === "running" ? part.progress : undefined);
      setText(doubt, part.state === "waiting" ? describeDoubt(part, isOver) : "");
      doubt.hidden = doubt.textContent === "";
      if (part.approval) {
        card ??= createApprovalCard(approvals, part.approval);
        card.update(part.approval);
        if (!card.root.isConnected) question.replaceChildren(card.root);
      }
      question.hidden = !part.approval || state === "done" || state === "stopped";
      if (isBodyOld) body.replaceChildren(...drawBody(part));
      body.hidden = body.childElementCount === 0;
    },
  };
}

function stateOf({ state, outcome }: ToolPart, isOver: boolean): keyof typeof STATES {
  switch (state) {
    case "called":
    case "asking":
    case "running":
      return isOver ? "stopped" : state;
    case "waiting":
      return isOver ? "unknown" : state;
    case "failed":
      return outcome?.isUnknown ? "unknown" : state;
    case "done":
      return state;
  }
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Neither "done" nor "failed" would be true, and the reader is to know why nothing moves. */
function describeDoubt({ awaitedUntilMs }: ToolPart, isOver: boolean): string {
  const doubt = "It is not known whether this happened.";
  if (isOver) return doubt;
  const until = awaitedUntilMs === undefined ? "" : `, until ${TIME.format(awaitedUntilMs)}`;
  return `${doubt} An operator has been asked${until}. The answer goes on after that.`;
}

/** Says how far a running call is: its stage in words, and a thin bar that knows its share or does not. */
function createProgress(name: string) {
  const words = el("span");
  const bar = el("progress", { "aria-label": `Progress of ${name}`, max: "1" });
  const root = el("div", { class: "progress", hidden: "" }, words, bar);
  return {
    root,
    update(progress: ToolProgress | undefined) {
      root.hidden = progress === undefined;
      if (!progress) return;
      const { stage, share, attempt } = progress;
      const again = attempt === undefined ? undefined : `attempt ${attempt}`;
      setText(words, [stage, again].filter((word) => word !== undefined).join(" · "));
      if (share === undefined) bar.removeAttribute("value");
      else bar.value = share;
    },
  };
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
