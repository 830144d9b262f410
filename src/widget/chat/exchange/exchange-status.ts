import { say } from "../../texts/say.ts";
import type { AnswerState, ToolPartState } from "../answer/answer.ts";
import { el, setText } from "../../dom.ts";
import { type Exchange, isActive } from "./exchange.ts";

/** Creates the line that tells what an unfinished answer does at the moment. */
export function createStatus() {
  const root = el("p", { class: "status" });
  return {
    root,
    update(exchange: Exchange) {
      setText(root, describeProgress(exchange));
      root.dataset["link"] = exchange.link;
      root.hidden = !isActive(exchange);
    },
  };
}

function describeProgress({ link, answer }: Exchange): string {
  if (link === "reconnecting") return say("Reconnecting…");
  if (isAwaiting(answer, "awaiting_operator")) return say("Waiting for an operator…");
  if (isAwaiting(answer, "awaiting_approval")) {
    return isAsked(answer) ? say("Waiting for an answer…") : say("Waiting for approval…");
  }
  const last = answer.parts.at(-1);
  if (last?.kind === "tool" && last.state === "running") return say("Using a tool…");
  return last?.kind === "text" ? say("Writing…") : say("Thinking…");
}

/** Tells whether a tool call waits for the answer to its question. */
export function isAsked({ parts }: AnswerState): boolean {
  return parts.some(
    (part) =>
      part.kind === "tool" &&
      part.state === "awaiting_approval" &&
      part.approval?.asks === "answer",
  );
}

/** Tells whether one of an answer's tool calls is in a state. */
export function isAwaiting(
  { parts }: AnswerState,
  state: Extract<ToolPartState, `awaiting_${string}`>,
): boolean {
  return parts.some((part) => part.kind === "tool" && part.state === state);
}
