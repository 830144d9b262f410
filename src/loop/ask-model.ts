import type { Random } from "../capabilities/system.ts";
import type { ModelAnswer, ModelFailure } from "../protocol/model/event.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/model/usage.ts";
import type { Result } from "../protocol/outcome/result.ts";
import { backoffMs } from "../runner/retry/backoff.ts";
import { pause } from "../runner/pause.ts";
import type { ModelAllowance } from "./model-budget.ts";
import { messagesShown } from "./prompt.ts";
import { reportModelFailure } from "./report-model-failure.ts";
import type { RunEnd } from "./run-end.ts";
import type { RunScope } from "./run-scope.ts";
import { relayAnswer, toolsShown } from "./relay-answer.ts";

/** Most attempts of one step at a provider that fails. */
const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 500;

/** A finished model call. */
export interface AnsweredCall {
  readonly answer: ModelAnswer;
  /** Number of the model call within its run. */
  readonly modelCall: number;
}

/**
 * Asks the model, and retries when its provider fails in a way that may pass. It withdraws the text
 * of a failed attempt before the next attempt.
 * Contract: the caller reserved the first model call. Every retry is counted and its tokens are
 * reserved before the call. A call that the provider refused is given back. The usage is the sum of
 * all attempts.
 */
export async function askModel(scope: RunScope, first: ModelAllowance): Promise<AnsweredCall> {
  const { clock, journal, modelCalls, signal } = scope;
  let used: Usage | undefined;
  let allowance = first;
  for (let attempt = 1; ; attempt++) {
    const modelCall = modelCalls.made;
    const { answer: last, parts } = await relayAnswer(scope, allowance);
    closeAllowance(scope, allowance, last);
    if (last.failure) reportModelFailure(scope, last.failure);
    used = last.usage ? addUsage(used ?? NO_USAGE, last.usage) : used;
    const answered = { answer: { ...last, ...(used && { usage: used }) }, modelCall };
    const delayMs = last.failure && retryDelayMs(last.failure, attempt, scope.random);
    if (delayMs === undefined || signal.aborted || modelCalls.left <= 0) return answered;
    if (parts.length > 0) journal.append([{ type: "text_withdrawn", parts }]);
    await pause(clock, delayMs, signal);
    const allowed = signal.aborted ? undefined : await reserveModelCall(scope);
    if (!allowed?.ok) return answered;
    allowance = allowed.value;
  }
}

/**
 * Counts a model call and reserves the tokens that it may use.
 * Contract: takes nothing when it fails. Fails: the run's end.
 */
export async function reserveModelCall(scope: RunScope): Promise<Result<ModelAllowance, RunEnd>> {
  const { modelBudget, modelCalls, state } = scope;
  modelCalls.take();
  const shown = { messages: messagesShown(scope), tools: toolsShown(scope) };
  const call = { modelCall: modelCalls.made, model: state.model, ...shown };
  const allowed = await modelBudget.reserve(call);
  if (!allowed.ok) modelCalls.cancel();
  return allowed;
}

/** Closes what one attempt reserved. A refused attempt used nothing of the run's budget. */
function closeAllowance(
  { modelBudget, modelCalls }: RunScope,
  allowance: ModelAllowance,
  answer: ModelAnswer,
): void {
  if (answer.failure && isRefusal(answer.failure)) {
    modelCalls.giveBack();
    modelBudget.release(allowance);
  } else modelBudget.settle(allowance, answer);
}

/** The provider sent no answer. */
function isRefusal({ code }: ModelFailure): boolean {
  return REFUSALS.has(code);
}

const REFUSALS: ReadonlySet<ModelFailure["code"]> = new Set([
  "upstream_status",
  "upstream_unreachable",
  "upstream_not_configured",
  "provider_missing",
  "provider_unreadable",
]);

/** Tells how long to wait before a retry; undefined when there is none. Unit: milliseconds. */
function retryDelayMs(failure: ModelFailure, attempt: number, random: Random): number | undefined {
  if (attempt >= MAX_ATTEMPTS || !isTransient(failure)) return undefined;
  const { retryAfterSeconds = 0 } = failure;
  const askedMs = retryAfterSeconds > 0 ? retryAfterSeconds * 1_000 : undefined;
  return backoffMs({ firstMs: FIRST_DELAY_MS, attempt, askedMs }, random);
}

function isTransient(failure: ModelFailure): boolean {
  switch (failure.code) {
    case "upstream_unreachable":
    case "upstream_truncated":
    case "upstream_stalled":
    // The storage may not have answered.
    case "provider_unreadable":
      return true;
    case "upstream_status":
      return isTransientStatus(failure.status ?? 0);
    case "upstream_not_configured":
    case "provider_missing":
    case "upstream_not_a_stream":
    case "upstream_error_event":
    case "upstream_malformed":
    case "upstream_too_large":
    case "aborted":
      return false;
  }
}

/**
 * Timeout, too early, too many requests, or an error of the provider. Other refusals would repeat.
 */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
