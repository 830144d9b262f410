import type { Random } from "../../capabilities/system.ts";
import type { ModelAnswer, ModelFailure } from "../../protocol/model/event.ts";
import { addUsage, NO_USAGE, type Usage } from "../../protocol/model/usage.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import { backoffMs } from "../../runner/retry/backoff.ts";
import { pause } from "../../runner/pause.ts";
import type { ModelAllowance } from "./model-budget.ts";
import { messagesShown } from "../history/prompt.ts";
import { isRefusal, isTransient } from "./failed-call.ts";
import { findFallback, reportChange } from "./fall-back.ts";
import { noteUsage } from "./note-usage.ts";
import { reportModelFailure } from "./report-model-failure.ts";
import type { RunEnd } from "../run-end.ts";
import type { RunScope } from "../run-scope.ts";
import { relayAnswer, toolsShown } from "./relay-answer.ts";

/** Most attempts of one step at a model that fails. */
const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 500;

/** A finished model call. */
export interface AnsweredCall {
  readonly answer: ModelAnswer;
  /** Number of the model call within its run. */
  readonly modelCall: number;
  /** The model that answered. */
  readonly model: string;
}

/**
 * Asks the model. When its provider fails, it asks the next model of the fallback list, or else
 * asks again if the failure may pass. It withdraws the text of a failed attempt before the next
 * attempt.
 * Contract: the caller reserved the first model call. Every further call is counted and its tokens
 * are reserved before the call. A call that the provider refused is given back. The usage is the
 * sum of all attempts. A failed answer has no tool calls, so none of them has begun.
 */
export async function askModel(scope: RunScope, first: ModelAllowance): Promise<AnsweredCall> {
  const { clock, journal, modelCalls, signal, state } = scope;
  let used: Usage | undefined;
  let allowance = first;
  for (let attempt = 1; ; attempt++) {
    const { made: modelCall } = modelCalls;
    const { answer: last, parts } = await relayAnswer(scope, allowance);
    closeAllowance(scope, allowance, last);
    noteUsage(scope, state.model, last.usage);
    if (last.failure) reportModelFailure(scope, last.failure);
    used = last.usage ? addUsage(used ?? NO_USAGE, last.usage) : used;
    const answer = { ...last, ...(used && { usage: used }) };
    const answered = { answer, modelCall, model: state.model };
    const change = last.failure && findFallback(scope, last.failure);
    const delayMs = change ? 0 : last.failure && retryDelayMs(last.failure, attempt, scope.random);
    if (delayMs === undefined || signal.aborted || modelCalls.left <= 0) return answered;
    if (parts.length > 0) journal.append([{ type: "text_withdrawn", parts }]);
    if (!change) await pause(clock, delayMs, signal);
    state.model = change?.to ?? state.model;
    const allowed = signal.aborted ? undefined : await reserveModelCall(scope);
    if (!allowed?.ok) return answered;
    if (change) {
      reportChange(scope, change);
      attempt = 0;
    }
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

/** Tells how long to wait before a retry; undefined when there is none. Unit: milliseconds. */
function retryDelayMs(failure: ModelFailure, attempt: number, random: Random): number | undefined {
  if (attempt >= MAX_ATTEMPTS || !isTransient(failure)) return undefined;
  const { retryAfterSeconds = 0 } = failure;
  const askedMs = retryAfterSeconds > 0 ? retryAfterSeconds * 1_000 : undefined;
  return backoffMs({ firstMs: FIRST_DELAY_MS, attempt, askedMs }, random);
}
