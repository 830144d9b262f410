import { say } from "../texts/say.ts";
import type { Exchange } from "./exchange/exchange.ts";
import { describeEnding } from "./exchange/exchange-ending.ts";
import { isAsked, isAwaiting } from "./exchange/exchange-status.ts";
import { readAloud } from "../markdown/text-view.ts";

const AWAITING_OPERATOR =
  "The outcome of a tool call is unknown. An operator has been asked to resolve it.";
const AWAITING_ANSWER = "A tool call asks a question. The conversation shows its form.";
const AWAITING_APPROVAL =
  "A tool call needs an approval. The conversation shows what the call would do.";

const MAX_CHARS = 2000;

/**
 * Returns what a screen reader announces: that an answer began or waits, that its connection was
 * lost, and the whole answer at its end. Announcing every delta would be impossible to follow.
 */
export function announce(exchange: Exchange): string {
  switch (exchange.link) {
    case "opening":
    case "open":
      if (isAsked(exchange.answer)) return say(AWAITING_ANSWER);
      if (isAwaiting(exchange.answer, "awaiting_approval")) return say(AWAITING_APPROVAL);
      return isAwaiting(exchange.answer, "awaiting_operator")
        ? say(AWAITING_OPERATOR)
        : say("Answering…");
    case "reconnecting":
      return say("Connection lost. Reconnecting…");
    case "done":
      return announceAnswer(exchange);
    case "token_needed":
    case "broken":
      return "";
  }
}

function announceAnswer(exchange: Exchange): string {
  const { parts } = exchange.answer;
  const texts = parts.map((part) =>
    part.kind === "text" ? readAloud(part.text, MAX_CHARS + 1) : "",
  );
  const answer = texts.filter(Boolean).join("\n");
  const start = answer.length > MAX_CHARS ? `${answer.slice(0, MAX_CHARS)}…` : answer;
  return say("Answer: {answer} {ending}", {
    answer: start,
    ending: describeEnding(exchange),
  }).trim();
}
