import type { RunJournal, SteeringInbox } from "../capabilities/run-journal.ts";
import type { Budget } from "../protocol/budget/amounts.ts";
import type { ModelFailure } from "../protocol/model/event.ts";
import type { Usage } from "../protocol/model/usage.ts";
import type { DoneReason, RunError } from "../protocol/run/event.ts";
import type { EndCause, RecordedAnswer, StopReason } from "../protocol/run/facts.ts";

/** How a run ends, as its `done` event says. */
export interface RunEnd {
  readonly reason: DoneReason;
  readonly error?: RunError;
  /** What the error's code does not tell. The run's facts keep it. */
  readonly because?: EndCause;
}

/**
 * Appends the run's `done` event. Steering messages that no model call answered stay in the
 * conversation.
 */
export function endRun(
  { journal, inbox }: { readonly journal: RunJournal; readonly inbox: SteeringInbox },
  { because, ...done }: RunEnd & { readonly usage: Usage },
): void {
  inbox.close();
  if (because) journal.note({ because });
  for (const text of inbox.takeAll()) journal.remember({ role: "user", text });
  journal.append([{ type: "done", ...done }]);
}

/** Ends a run after a model answer that no other step follows. */
export function endAfterAnswer(answer: RecordedAnswer): RunEnd {
  switch (answer.finish) {
    case "stop":
      return { reason: "stop" };
    case "tool_calls":
    case "pause":
      return STEP_LIMIT;
    case "length":
    case "context_window":
    case "content_filter":
    case "refusal":
      return { reason: answer.finish };
    case "error":
      return describeFailure(answer.failure);
  }
}

/** Ends a run that was stopped. */
export function endOfStop(stopped: StopReason): RunEnd {
  return { ...describeStop(stopped), because: { stopped } };
}

function describeStop(reason: StopReason): RunEnd {
  switch (reason) {
    case "cancelled":
      return { reason: "cancelled" };
    case "time":
      return exhausted("time");
    case "storage":
      return exhausted("stored bytes");
    case "interrupted":
      return RUN_INTERRUPTED;
  }
}

/** Ends a run with an error. */
export function failed(code: string, message: string): RunEnd {
  return { reason: "error", error: { code, message } };
}

/** Ends a run that has used up a budget of its policy. */
export function overBudget(budget: Budget, whose: "run" | "tenant" = "run"): RunEnd {
  const named = whose === "tenant" ? `the tenant's ${budget}` : budget;
  return { ...exhausted(named), because: { exhausted: budget, whose } };
}

function exhausted(named: string): RunEnd {
  const message = `The run has used up its budget: ${named}. Ask an administrator to raise it.`;
  return failed("budget_exhausted", message);
}

/** Ends a run whose model is paid in another currency than its budgets are in. */
export function otherCurrency(prices: string, budgets: string): RunEnd {
  const message =
    `The prices of this model are in ${prices}, and the budgets of the policy in ${budgets}. ` +
    "Use another model, or ask an administrator to change the policy.";
  return failed("model_currency_mismatch", message);
}

/** The client runs its own tools, and goes on with their results in another run. */
export const RETURNED_TO_CLIENT: RunEnd = { reason: "stop" };

export const STEP_LIMIT: RunEnd = { reason: "step_limit" };

export const INTERNAL_ERROR = failed(
  "internal_error",
  "The run failed inside Interlock. Start a new run, and report this run's id.",
);

/** Ends a run in which Interlock failed; the error stands in the log under this id. */
export function brokenRun(errorId: string): RunEnd {
  const message = `The run failed inside Interlock. Start a new run, and report ${errorId}.`;
  return { reason: "error", error: { code: "internal_error", message, errorId } };
}

export const POLICY_LOST = failed(
  "policy_unavailable",
  "The policy of this run cannot be read, so the run's budgets are unknown. Start a new run.",
);

export const TOOLS_UNAVAILABLE = failed(
  "tools_unavailable",
  "The tools of this run could not be read. Start a new run later.",
);

export const DATA_NOT_ALLOWED = failed(
  "data_not_allowed",
  "Policy does not show data of this conversation to this caller, model or assistant. " +
    "Start a new conversation.",
);

export const CONTEXT_UNAVAILABLE = failed(
  "context_unavailable",
  "What the deployment knows about this conversation could not be read. Try again later.",
);

export const CONTEXT_INVALID = failed(
  "context_invalid",
  "The deployment's context is not valid, or a variable of the assistant's instructions has no " +
    "value. Tell the operator of the assistant.",
);

export const HISTORY_ERASED = failed(
  "history_erased",
  "The earlier messages of this conversation were deleted. Start a new conversation.",
);

export const HISTORY_CHANGED = failed(
  "history_changed",
  "The earlier messages of this conversation are not those that the run began with. Start a new " +
    "conversation, and report this run's id.",
);

export const TOO_LONG = failed(
  "conversation_too_long",
  "The conversation is too long to go on. Start a new conversation.",
);

export const OUTCOME_UNKNOWN = failed(
  "outcome_unknown",
  "The outcome of a tool call is unknown, and no operator resolved it in time. " +
    "Check whether the change happened before you ask for it again.",
);

export const ENDED_BY_HOOK = failed(
  "ended_by_hook",
  "A check of this deployment ended the run because of a tool call. The call says why.",
);

const RUN_INTERRUPTED = failed(
  "interrupted",
  "The run was interrupted too often and did not finish. Start a new run.",
);

/** Texts for clients. They never hold the provider's own text. */
const FAILURES: { readonly [Code in Exclude<ModelFailure["code"], "aborted">]: string } = {
  upstream_not_configured:
    "The deployment no longer offers the model of this run. Start a new run with another model.",
  provider_missing:
    "The provider of this run's model was deleted, or no longer allows the model. Start a new run " +
    "with another model.",
  provider_unreadable:
    "The key of this run's provider cannot be opened. Store the provider again, and start a new " +
    "run.",
  upstream_status: "The model provider refused the request.",
  upstream_unreachable: "The model provider could not be reached. Try again later.",
  upstream_not_a_stream:
    "The model provider did not answer with an event stream. Check the provider's settings.",
  upstream_error_event: "The model provider reported an error while it answered. Try again later.",
  upstream_malformed: "The model provider sent data that could not be read. Try again later.",
  upstream_ambiguous:
    "The model provider repeated a tool call in a way that could be one call or two, so none ran. " +
    "Try again, or use another model.",
  upstream_wrong_wire:
    "The model provider answered in the format of another wire. Correct the wire of the model.",
  upstream_too_large: "The model provider sent more than a run may receive. Ask for less at once.",
  upstream_truncated: "The model provider's answer ended before it was complete. Try again later.",
  upstream_stalled: "The model provider stopped answering. Try again later.",
};

function describeFailure(failure: RecordedAnswer["failure"]): RunEnd {
  if (!failure) return INTERNAL_ERROR;
  const { code, status } = failure;
  if (code === "aborted") return { reason: "cancelled" };
  const answered = status === undefined ? "" : ` It answered with HTTP ${status}.`;
  return failed(code, `${FAILURES[code]}${answered}`);
}
