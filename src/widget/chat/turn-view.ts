import type { ApprovalCardPorts } from "../approval/card.ts";
import { isActive, type Turn } from "./conversation.ts";
import { el, icon, setText } from "../dom.ts";
import { createTextView } from "./text-view.ts";
import { createToolCard } from "./tool-card.ts";
import { plainText } from "./text-blocks.ts";
import type { Part } from "./view-state.ts";

export interface TurnView {
  readonly root: HTMLElement;
  update(turn: Turn): void;
}

/** What a turn lets its reader do. */
export interface TurnPorts {
  readonly approvals: ApprovalCardPorts;
  readonly onRetry: () => void;
}

/** Shows one question with its answer. */
export function createTurnView(question: string, { approvals, onRetry }: TurnPorts): TurnView {
  const parts = el("div", { class: "parts" });
  const status = el("p", { class: "status" });
  const ending = createEnding(onRetry);
  const answer = el("article", { class: "answer", "aria-label": "Assistant" }, parts, status);
  answer.append(ending.root);
  const views = new Map<number, PartView>();
  let shown: Turn | undefined;
  return {
    root: el("section", { class: "turn" }, createBubble(question), answer),
    update(turn) {
      if (turn === shown) return;
      // Asked again: nothing of the former answer stays.
      if (turn.answer.parts.length < views.size) {
        parts.replaceChildren();
        views.clear();
      }
      for (const part of turn.answer.parts) {
        const view = views.get(part.index) ?? addPartView(part, { parent: parts, approvals });
        views.set(part.index, view);
        view.update(part, !isActive(turn) && turn.answer.done !== undefined);
      }
      setText(status, describeProgress(turn));
      status.dataset["link"] = turn.link;
      status.hidden = !isActive(turn);
      ending.update(turn);
      shown = turn;
    },
  };
}

function createBubble(text: string): HTMLElement {
  return el("article", { class: "question", "aria-label": "You" }, el("p", {}, text));
}

interface PartView {
  update(part: Part, isOver: boolean): void;
}

interface PartPlace {
  readonly parent: HTMLElement;
  readonly approvals: ApprovalCardPorts;
}

function addPartView(part: Part, { parent, approvals }: PartPlace): PartView {
  if (part.kind === "text") {
    const text = createTextView();
    parent.append(text.root);
    return {
      update(next) {
        if (next.kind === "text") text.update(next.text);
        // Hidden text could still be found, copied or read out.
        else text.root.remove();
      },
    };
  }
  if (part.kind === "withdrawn") return { update: () => undefined };
  if (part.kind === "user") {
    parent.append(createBubble(part.text));
    return { update: () => undefined };
  }
  const card = createToolCard(part.toolName, approvals);
  parent.append(card.root);
  return { update: (next, isOver) => next.kind === "tool" && card.update(next, isOver) };
}

function describeProgress({ link, answer }: Turn): string {
  if (link === "reconnecting") return "Reconnecting…";
  if (waitsForOperator(answer)) return "Waiting for an operator…";
  if (waitsForApproval(answer)) return "Waiting for approval…";
  const last = answer.parts.at(-1);
  if (last?.kind === "tool" && last.state === "running") return "Using a tool…";
  return last?.kind === "text" ? "Writing…" : "Thinking…";
}

/** Tells whether nobody knows what became of one of an answer's calls, and somebody has been asked. */
export function waitsForOperator({ parts }: Turn["answer"]): boolean {
  return parts.some((part) => part.kind === "tool" && part.state === "waiting");
}

/** Tells whether people are asked about one of an answer's calls. */
export function waitsForApproval({ parts }: Turn["answer"]): boolean {
  return parts.some((part) => part.kind === "tool" && part.state === "asking");
}

/** The line below an answer that did not simply end. */
function createEnding(onRetry: () => void) {
  const message = el("p");
  const retry = el(
    "button",
    { type: "button", class: "retry" },
    icon("M15.5 8A6 6 0 1 0 16 11M16 4v4h-4"),
    "Try again",
  );
  const problem = el("div", { class: "problem", role: "alert", hidden: "" }, message, retry);
  const note = el("p", { class: "note", hidden: "" });
  retry.addEventListener("click", onRetry);
  return {
    root: el("div", {}, note, problem),
    update(turn: Turn) {
      const failure = describeFailure(turn);
      const remark = describeEnding(turn);
      setText(message, failure);
      setText(note, remark);
      problem.hidden = failure === "";
      note.hidden = remark === "";
      // To ask again is what nobody should do who has not looked.
      retry.hidden = isInDoubt(turn);
    },
  };
}

function describeFailure({ link, problem, answer }: Turn): string {
  if (link === "broken") return problem ?? "Something went wrong.";
  if (link !== "done" || answer.done?.reason !== "error") return "";
  const { code = "", message = "" } = answer.done;
  const words = Object.hasOwn(FAILURES, code) ? FAILURES[code] : message;
  return words || "The run failed.";
}

/** What a reader has to know beyond that it failed. */
const FAILURES: Readonly<Record<string, string>> = {
  outcome_unknown:
    "It is not known whether a tool did what it was asked, and nobody could tell in time. " +
    "Look for yourself before you ask for it again.",
  interrupted:
    "This answer was interrupted too often and has been given up. What its tools have done stays done.",
};

function isInDoubt({ link, answer }: Turn): boolean {
  return link === "done" && answer.done?.code === "outcome_unknown";
}

const AFRESH =
  "What was said before is not kept any more at the server, so this answer was given without it.";

const ENDINGS: Readonly<Record<string, string>> = {
  length: "The answer was cut off: it reached the length limit.",
  content_filter: "The answer was held back by a content filter.",
  step_limit: "Stopped: the run used all of its steps.",
  cancelled: "You stopped this answer.",
};

function describeEnding({ link, answer, startsAfresh }: Turn): string {
  const reason = link === "done" ? answer.done?.reason : undefined;
  const ending = reason !== undefined && Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason] : "";
  return [startsAfresh ? AFRESH : "", ending].filter(Boolean).join(" ");
}

/** What is read out once an answer is finished; long answers are cut, the rest can be read on the page. */
export function announcementOf(turn: Turn): string {
  const texts = turn.answer.parts.map((part) => (part.kind === "text" ? plainText(part.text) : ""));
  const answer = texts.filter(Boolean).join("\n");
  return `Answer: ${answer.length > 2000 ? `${answer.slice(0, 2000)}…` : answer} ${describeEnding(turn)}`.trim();
}
