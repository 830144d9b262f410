import type { DoneReason, RunError } from "../protocol/run/event.ts";
import type { Budget } from "../protocol/budget/amounts.ts";
import type { ModelFailure } from "../protocol/model/event.ts";
import type { RecordedAnswer, StopReason } from "../protocol/run/facts.ts";

/** How a run ends, as its `done` says. */
export interface RunEnd {
  readonly reason: DoneReason;
  readonly error?: RunError;
}

/** Ends a run with the answer that nothing follows. */
export function endOf(answer: RecordedAnswer): RunEnd {
  switch (answer.finish) {
    case "stop":
    case "tool_calls":
      return { reason: "stop" };
    case "length":
    case "content_filter":
      return { reason: answer.finish };
    case "error":
      return describeFailure(answer.failure);
  }
}

/** Ends a run that was stopped. */
export function endOfStop(reason: StopReason): RunEnd {
  switch (reason) {
    case "cancelled":
      return { reason: "cancelled" };
    case "time":
      return overBudget("time");
    case "interrupted":
      return failed("interrupted", "The run was interrupted too often and did not finish.");
  }
}

/** What a client learns of a provider's failure; the provider's own text stays behind. */
const FAILURES: { readonly [Code in Exclude<ModelFailure["code"], "aborted">]: string } = {
  upstream_status: "The model provider refused the request.",
  upstream_unreachable: "The model provider could not be reached.",
  upstream_not_a_stream: "The model provider did not answer with an event stream.",
  upstream_error_event: "The model provider reported an error while it answered.",
  upstream_malformed: "The model provider sent data that could not be read.",
  upstream_too_large: "The model provider sent more than a run may receive.",
  upstream_truncated: "The model provider's answer ended before it was complete.",
  upstream_stalled: "The model provider stopped answering.",
};

function describeFailure(failure: RecordedAnswer["failure"]): RunEnd {
  if (!failure) return failed("internal_error", "The run failed inside Interlock.");
  const { code, status } = failure;
  if (code === "aborted") return { reason: "cancelled" };
  const answered = status === undefined ? "" : ` It answered with HTTP ${status}.`;
  return failed(code, `${FAILURES[code]}${answered}`);
}

/** Ends a run that could not be carried through. */
export function failed(code: string, message: string): RunEnd {
  return { reason: "error", error: { code, message } };
}

/** Ends a run that has used up what policy gives one run. */
export function overBudget(what: Budget | "time" | "the tenant's tokens"): RunEnd {
  return failed("budget_exhausted", `The run has used up its budget: ${what}.`);
}
