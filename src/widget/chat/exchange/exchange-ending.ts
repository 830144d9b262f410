import { say, sayWords, type Text } from "../../texts/say.ts";
import { sayKnown, type Worded } from "../../texts/say-known.ts";
import type { Exchange } from "./exchange.ts";
import { el, icon, RELOAD_ICON, setText } from "../../dom.ts";

/** Creates the lines below an answer: how it ended, and Try again after a failure. */
export function createEnding(onRetry: () => void) {
  const message = el("p");
  const retry = el(
    "button",
    { type: "button", class: "retry" },
    icon(RELOAD_ICON),
    say("Try again"),
  );
  const problem = el("div", { class: "problem", role: "alert", hidden: "" }, message, retry);
  const note = el("p", { class: "note", hidden: "" });
  retry.addEventListener("click", onRetry);
  return {
    root: el("div", {}, note, problem),
    update(exchange: Exchange) {
      const failure = describeFailure(exchange);
      const ending = describeEnding(exchange);
      setText(message, failure);
      setText(note, ending);
      problem.hidden = failure === "";
      note.hidden = ending === "";
      // A retry could repeat the tool call, so the reader has to check its outcome first.
      retry.hidden = isOutcomeUnknown(exchange);
    },
  };
}

/** Returns why an answer failed, or empty. */
export function describeFailure({ link, problem, answer }: Exchange): string {
  if (link === "broken") return problem ?? say("Something went wrong. Select Try again.");
  if (link !== "done" || answer.done?.reason !== "error") return "";
  const { code = "", message = "" } = answer.done;
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code] : undefined;
  const said = known ? say(known) : sayWords(sayKnown(message, WITH_VALUES));
  return said || say("The run failed. Select Try again.");
}

/** Sentences of the server with values in them. */
const WITH_VALUES: Worded = {
  texts: [
    "The run has used up its budget: {budget}. Ask an administrator to raise it.",
    "The run failed inside Interlock. Start a new run, and report this run's id.",
    "The run failed inside Interlock. Start a new run, and report {id}.",
    "{why} It answered with HTTP {status}.",
  ],
  words: ["The model provider refused the request."],
};

/** Failures that the page explains itself. Any other failure shows the server's message. */
const FAILURES: Readonly<Record<string, Text>> = {
  interrupted:
    "This answer was interrupted too often, so it ended here. Completed tool calls are not undone.",
};

function isOutcomeUnknown({ link, answer }: Exchange): boolean {
  return link === "done" && answer.done?.code === "outcome_unknown";
}

const LOST_HISTORY: Text =
  "The server no longer stores the earlier messages. This answer was given without them.";

const ENDINGS: Readonly<Record<string, Text>> = {
  length: "The answer was cut off because it reached the length limit.",
  context_window: "The answer was cut off because the conversation is too long for the model.",
  content_filter: "A content filter stopped the answer.",
  refusal: "The model declined to answer.",
  step_limit: "The answer stopped because the run used all of its steps.",
  cancelled: "You stopped this answer.",
};

/** Returns what the reader has to know about an answer that did not simply end, or empty. */
export function describeEnding({ link, answer, hasLostHistory }: Exchange): string {
  const reason = link === "done" ? answer.done?.reason : undefined;
  const ending =
    reason !== undefined && Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason] : undefined;
  const texts = [...(hasLostHistory ? [LOST_HISTORY] : []), ...(ending ? [ending] : [])];
  return texts.map((text) => say(text)).join(" ");
}
