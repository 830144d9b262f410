import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { addUsage } from "../protocol/model/usage.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { InvocationLedger } from "../runner/invocation/invocation-ledger.ts";
import { WAITING } from "../runner/waiting.ts";
import { reserveModelCall } from "./model/ask-model.ts";
import { closeOpenCalls } from "./calls/close-open-calls.ts";
import { openScope } from "./open-scope.ts";
import { noteVersions } from "./history/note-versions.ts";
import { claimedHistory, readHistory } from "./history/read-history.ts";
import {
  firstStep,
  readLastResult,
  stepAfter,
  unansweredStep,
  withdrawPartialText,
} from "./first-step.ts";
import {
  brokenRun,
  ENDED_BY_HOOK,
  endAfterAnswer,
  endOfStop,
  endRun,
  INTERNAL_ERROR,
  OUTCOME_UNKNOWN,
  POLICY_LOST,
  RETURNED_TO_CLIENT,
  STEP_LIMIT,
  TOO_LONG,
  type RunEnd,
} from "./run-end.ts";
import type { RunMemory } from "./run-memory.ts";
import {
  stopReasonOf,
  type LoopInput,
  type RunPorts,
  type RunScope,
  type LoopState,
} from "./run-scope.ts";
import { runStep, takeSteering, type AllowedStep, type Step, type StepResult } from "./run-step.ts";
import { summariseHistory } from "./history/summarise-history.ts";
import { Transcript } from "./history/transcript.ts";

/**
 * Carries a claimed run to its end: model, tools, model, until the model stops or a limit is
 * reached. It continues from where earlier incarnations stopped. A steering message is added before
 * the next model call, and causes one.
 * Contract: throws only while the conversation cannot be read; the next incarnation tries again.
 * `ended`: exactly one `done` was appended, as the last event, and every
 * steering message that the inbox took is in the transcript. `waiting`: a call waits for an
 * approval or for an operator; run the loop again once someone has answered.
 */
export async function runLoop(
  input: LoopInput,
  ports: RunPorts,
): Promise<"ended" | typeof WAITING> {
  const { claim, memory } = input;
  const known = claimedHistory(input);
  // The first incarnation waits for nothing, so its first event is stored with the claim.
  const history = known ? ok(known) : await readHistory(input, ports);
  const state = restoreState(input, ports, history.ok ? history.value : []);
  let end: RunEnd | typeof WAITING;
  try {
    withdrawPartialText(ports.journal, memory);
    const scope = history.ok ? await openScope({ input, ports, state }) : history;
    end = scope.ok ? await runSteps(scope.value, memory) : scope.failure;
    if (!scope.ok) closeOpenCalls(ports, claim, state);
  } catch (thrown) {
    end = brokenRun(ports.log.fault("run_failed", thrown));
    closeOpenCalls(ports, claim, state);
  }
  if (end === WAITING) return WAITING;
  endRun(ports, { ...end, usage: state.usage });
  return "ended";
}

function restoreState(
  { claim, memory }: LoopInput,
  { journal }: RunPorts,
  window: readonly TranscriptMessage[],
): LoopState {
  const { transcript: messages, invocations, facts, progress } = memory;
  const claimedMessages = claim.messages.length;
  return {
    transcript: new Transcript(journal, {
      messages,
      claimedMessages,
      window,
      sources: claim.history?.sources,
      dataClasses: claim.history?.dataClasses,
    }),
    invocations: new InvocationLedger(journal, invocations),
    usage: progress.usage,
    usedByOthers: facts.usedByOthers ?? {},
    summaryUsage: facts.summary?.usage,
    // Going back would drop the reasoning of the fallback, and ask a failing model again.
    model: facts.answer?.model ?? claim.model,
  };
}

/** Runs step after step. Contract: returns only once the tenant's ledger knows every model call. */
async function runSteps(scope: RunScope, memory: RunMemory): Promise<RunEnd | typeof WAITING> {
  const { journal, modelBudget, state } = scope;
  const last = readLastResult(memory, state);
  if (last) return (await endAfterStep(scope, last)) ?? INTERNAL_ERROR;
  if (!memory.facts.versions) await noteVersions(scope);
  if (scope.summary) await summariseHistory(scope, scope.summary);
  for (let step = firstStep(memory); ; step = stepAfter(step)) {
    const allowed = await allowStep(scope, step);
    if (!allowed.ok) {
      if (step.hasBegun) journal.append([unansweredStep(step)]);
      return allowed.failure;
    }
    const result = await runStep(scope, allowed.value);
    if (result === WAITING) {
      await modelBudget.settled();
      return WAITING;
    }
    state.usage = addUsage(state.usage, result.answer.usage);
    const end = await endAfterStep(scope, result);
    if (end) return end;
  }
}

/**
 * Takes steering messages and reserves a model call. Fails: the run's end, when no step may begin.
 */
async function allowStep(scope: RunScope, step: Step): Promise<Result<AllowedStep, RunEnd>> {
  if (step.answer || scope.claim.call) return ok({ ...step, allowance: {} });
  const { modelBudget, modelCalls, signal, state } = scope;
  const stopped = stopReasonOf(signal);
  if (stopped) return fail(endOfStop(stopped));
  if (scope.isPolicyLost) return fail(POLICY_LOST);
  if (!scope.prompt.ok) return scope.prompt;
  if (modelCalls.left <= 0) return fail(STEP_LIMIT);
  takeSteering(scope);
  if (state.transcript.isTooLong()) return fail(TOO_LONG);
  const allowed = await reserveModelCall(scope);
  const stoppedMeanwhile = stopReasonOf(signal);
  if (!allowed.ok) return allowed;
  if (!stoppedMeanwhile) return ok({ ...step, allowance: allowed.value });
  modelCalls.cancel();
  modelBudget.release(allowed.value);
  await modelBudget.settled();
  return fail(endOfStop(stoppedMeanwhile));
}

/** Tells how the run ends after a step; undefined when another step follows. */
async function endAfterStep(
  { modelBudget, signal, state }: RunScope,
  { answer, continued, hasUnknownOutcome, hasReturned }: StepResult,
): Promise<RunEnd | undefined> {
  // A run that has ended keeps no object awake, so the tenant's ledger has to know before that.
  if (!continued) await modelBudget.settled();
  const stopped = stopReasonOf(signal);
  if (stopped) return endOfStop(stopped);
  if (hasUnknownOutcome) return OUTCOME_UNKNOWN;
  if (state.invocations.isEndedByHook) return ENDED_BY_HOOK;
  if (hasReturned) return RETURNED_TO_CLIENT;
  return continued ? undefined : endAfterAnswer(answer);
}
