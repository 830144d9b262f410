import type { ModelRequest } from "../capabilities/model.ts";
import type { Random } from "../capabilities/system.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import type { ModelFailure, ModelAnswer } from "../protocol/model/event.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/model/usage.ts";
import { isHighSurrogate } from "../protocol/text/encoding.ts";
import { pause } from "../runner/pause.ts";
import type { ModelAllowance } from "./model-budget.ts";
import type { RunEnd } from "./run-end.ts";
import type { StepScope } from "./step-scope.ts";

/** How often one step asks a provider that fails. */
const MAX_ATTEMPTS = 3;
const BASE_DELAY_MS = 500;
/** Whoever asks for more patience than this is not waited for. */
const MAX_DELAY_MS = 30_000;

/** A finished model call, and which of the run's it was. */
export interface Answered {
  readonly answer: ModelAnswer;
  readonly modelCall: number;
}

/**
 * Asks the model, and again when its provider fails in a way that may pass. What a failed attempt said is
 * withdrawn before the next one speaks.
 * Contract: the first call is allowed already; every other one is counted before it is made, and its tokens
 * are held. One that the provider refused is given back. The usage is that of all attempts.
 */
export async function askModel(scope: StepScope, first: ModelAllowance): Promise<Answered> {
  const { journal, modelBudget, modelCalls, signal } = scope;
  let used: Usage | undefined;
  let allowance = first;
  for (let attempt = 1; ; attempt++) {
    const modelCall = modelCalls.made;
    const { answer: last, part } = await streamModel(scope, allowance);
    used = last.usage ? addUsage(used ?? NO_USAGE, last.usage) : used;
    const answer = { ...last, ...(used && { usage: used }) };
    const { failure } = answer;
    if (failure && isRefusal(failure)) {
      modelCalls.giveBack();
      modelBudget.release(allowance);
    } else modelBudget.settle(allowance, last);
    const delayMs = failure && nextAttemptMs(failure, attempt, scope);
    if (delayMs === undefined || signal.aborted || modelCalls.left <= 0)
      return { answer, modelCall };
    if (part !== undefined) journal.append([{ type: "text_withdrawn", parts: [part] }]);
    await pause(scope.clock, delayMs, signal);
    const allowed = signal.aborted ? undefined : await allowModelCall(scope);
    if (!allowed?.ok) return { answer, modelCall };
    allowance = allowed.value;
  }
}

/**
 * Counts a model call and holds what it may use.
 * Contract: takes nothing when it fails. Fails: the run's end.
 */
export async function allowModelCall(scope: StepScope): Promise<Result<ModelAllowance, RunEnd>> {
  const { modelBudget, modelCalls, transcript } = scope;
  modelCalls.take();
  const call = { modelCall: modelCalls.made, messages: transcript, tools: toolsShown(scope) };
  const allowed = await modelBudget.reserve(call);
  if (!allowed.ok) modelCalls.undo();
  return allowed;
}

function toolsShown({ tools, runner }: StepScope): readonly ToolSpec[] {
  return tools.filter(({ name }) => !runner.isWithdrawn(name));
}

/** Tells how long to wait before the same is asked again; undefined when it is not. */
function nextAttemptMs(
  failure: ModelFailure,
  attempt: number,
  { random }: { readonly random: Random },
): number | undefined {
  if (attempt >= MAX_ATTEMPTS || !mayPass(failure)) return undefined;
  const backoffMs = BASE_DELAY_MS * 2 ** (attempt - 1);
  const askedMs = (failure.retryAfterSeconds ?? 0) * 1_000;
  const delayMs = Math.max(askedMs, backoffMs) + random.fraction() * backoffMs;
  return delayMs > MAX_DELAY_MS ? undefined : Math.ceil(delayMs);
}

function mayPass(failure: ModelFailure): boolean {
  switch (failure.code) {
    case "upstream_unreachable":
    case "upstream_truncated":
    case "upstream_stalled":
      return true;
    case "upstream_status":
      return isPassingStatus(failure.status ?? 0);
    case "upstream_not_a_stream":
    case "upstream_error_event":
    case "upstream_malformed":
    case "upstream_too_large":
    case "aborted":
      return false;
  }
}

/** Too early, too many, or the provider's own trouble; every other refusal would come again. */
function isPassingStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The provider sent no answer, so nothing of the run's budget went into one. */
function isRefusal({ code }: ModelFailure): boolean {
  return code === "upstream_status" || code === "upstream_unreachable";
}

interface Streamed {
  readonly answer: ModelAnswer;
  /** The part that shows its text; undefined when it said nothing. */
  readonly part: number | undefined;
}

/** Relays one model call; one batch of events per network read. */
async function streamModel(
  scope: StepScope,
  { maxOutputTokens }: ModelAllowance,
): Promise<Streamed> {
  const { claim, journal, model, signal, transcript } = scope;
  const request: ModelRequest = {
    model: claim.model,
    messages: transcript,
    tools: toolsShown(scope),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  let part: number | undefined;
  let answer: ModelAnswer | undefined;
  try {
    for await (const batch of model.stream(request, signal)) {
      const events: AiEvent[] = [];
      for (const event of batch) {
        if (event.type === "answer") answer = event.answer;
        else {
          if (part === undefined) {
            part = scope.nextPart();
            events.push({ type: "text_started", part });
          }
          pushDeltas(events, part, event.text);
        }
      }
      if (events.length > 0) journal.append(events);
    }
  } finally {
    if (part !== undefined) journal.append([{ type: "text_finished", part }]);
  }
  if (answer === undefined) throw new Error("the model stream ended without an answer");
  return { answer, part };
}

/** Longest text of one event, so that any event fits one stored row. Unit: UTF-16 code units. */
const MAX_DELTA_CHARS = 32 * 1024;

function pushDeltas(events: AiEvent[], part: number, text: string): void {
  let start = 0;
  while (text.length - start > MAX_DELTA_CHARS) {
    let end = start + MAX_DELTA_CHARS;
    if (isHighSurrogate(text.charCodeAt(end - 1))) end--;
    events.push({ type: "text_delta", part, text: text.slice(start, end) });
    start = end;
  }
  events.push({ type: "text_delta", part, text: start === 0 ? text : text.slice(start) });
}
