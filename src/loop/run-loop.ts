import type { AiEvent } from "../protocol/run/event.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { StopReason } from "../protocol/run/facts.ts";
import { addUsage, NO_USAGE } from "../protocol/model/usage.ts";
import { InvocationLedger } from "../runner/invocation-ledger.ts";
import { WAITING } from "../runner/waiting.ts";
import { allowModelCall } from "./ask-model.ts";
import { closeOpenCalls } from "./close-open-calls.ts";
import { endRun } from "./end-run.ts";
import type { ModelAllowance } from "./model-budget.ts";
import {
  openSteps,
  type LedgeredPorts,
  type OpenLife,
  type RunLife,
  type RunPorts,
  type Steps,
} from "./open-steps.ts";
import { endOf, endOfStop, failed, type RunEnd } from "./run-end.ts";
import type { RunMemory } from "./run-memory.ts";
import { runStep, takeSteering, type Step, type StepEnd } from "./run-step.ts";

/**
 * Carries a claimed run to its end, from wherever its earlier lives left it: model, tools, model, until
 * the model stops or a limit does. A message that came meanwhile is put before the next model call, and
 * brings one about.
 * Contract: never throws; appends exactly one `done`, as the last event; whatever the inbox took is in
 * the transcript then, answered or not. Or it answers `waiting`: an operator has to tell what became of a
 * call, and the run is to be given another life once there is word.
 */
export async function runLoop(life: RunLife, ports: RunPorts): Promise<"ended" | typeof WAITING> {
  const { journal } = ports;
  const { transcript, invocations: stored, progress } = life.memory;
  const invocations = new InvocationLedger(journal, stored);
  const spent = { usage: progress.usage };
  const open: OpenLife = { ...life, transcript: [...transcript], spent };
  let end: RunEnd | typeof WAITING;
  try {
    withdrawHalfStep(journal, life.memory);
    end = await runSteps(open, { ...ports, invocations });
  } catch {
    closeOpenCalls({ ...ports, invocations }, life.claim, open.transcript);
    end = BROKEN;
  }
  if (end === WAITING) return WAITING;
  endRun(ports, end, spent.usage);
  return "ended";
}

async function runSteps(life: OpenLife, ports: LedgeredPorts): Promise<RunEnd | typeof WAITING> {
  const steps = await openSteps(life, ports);
  const { progress, facts } = life.memory;
  const { lastStep, isContinued } = progress;
  if (!isContinued && facts.answer?.step === lastStep) {
    const hasUnknownOutcome = ports.invocations
      .ofStep(lastStep)
      .some(({ state }) => state === "EXPIRED");
    return (
      (await endAfter(steps, { answer: facts.answer, continued: false, hasUnknownOutcome })) ??
      BROKEN
    );
  }
  for (let step = firstStep(life.memory); ; step = stepAfter(step)) {
    const allowed = step.answer ? ok({}) : await allowStep(steps);
    if (!allowed.ok) {
      if (step.hasBegun) ports.journal.append([unansweredStep(step)]);
      return allowed.failure;
    }
    const stepEnd = await runStep(steps.scope, step, allowed.value);
    if (stepEnd === WAITING) {
      await steps.scope.modelBudget.settled();
      return WAITING;
    }
    steps.spent.usage = addUsage(steps.spent.usage, stepEnd.answer.usage);
    const end = await endAfter(steps, stepEnd);
    if (end) return end;
  }
}

function firstStep({ facts, progress }: RunMemory): Step {
  const { lastStep, isStepOpen } = progress;
  if (!isStepOpen) return stepAfter({ number: lastStep });
  const answer = facts.answer?.step === lastStep ? facts.answer : undefined;
  return { number: lastStep, hasBegun: true, answer };
}

function stepAfter({ number }: Pick<Step, "number">): Step {
  return { number: number + 1, hasBegun: false, answer: undefined };
}

/** What a crash cut short is said anew: readers are told not to count on it. */
function withdrawHalfStep(journal: RunPorts["journal"], memory: RunMemory): void {
  const { hasBegun, answer } = firstStep(memory);
  if (!hasBegun || answer) return;
  const { texts, openTexts } = memory.progress;
  journal.append(openTexts.map((part) => ({ type: "text_finished", part })));
  if (texts.length > 0) journal.append([{ type: "text_withdrawn", parts: texts }]);
}

function unansweredStep({ number }: Step): AiEvent {
  return {
    type: "step_finished",
    step: number,
    finish: "error",
    usage: NO_USAGE,
    continued: false,
  };
}

/** Takes what people said and holds what a model call may use. Fails: the run's end, when no step may begin. */
async function allowStep(steps: Steps): Promise<Result<ModelAllowance, RunEnd>> {
  const { scope, growth } = steps;
  const { modelBudget, modelCalls, signal } = scope;
  if (signal.aborted) return fail(endOfStop(signal.reason as StopReason));
  if (steps.isPolicyLost) return fail(POLICY_LOST);
  if (modelCalls.left <= 0) return fail({ reason: "step_limit" });
  takeSteering(scope);
  if (growth.isTooLong()) return fail(TOO_LONG);
  const allowed = await allowModelCall(scope);
  if (!allowed.ok || !signal.aborted) return allowed;
  modelCalls.undo();
  modelBudget.release(allowed.value);
  await modelBudget.settled();
  return fail(endOfStop(signal.reason as StopReason));
}

/** Tells how the run ends, when nothing follows a step. */
async function endAfter(
  { scope }: Steps,
  { answer, continued, hasUnknownOutcome }: StepEnd,
): Promise<RunEnd | undefined> {
  // A loop that has ended keeps nobody awake who has something left to tell.
  if (!continued) await scope.modelBudget.settled();
  if (scope.signal.aborted) return endOfStop(scope.signal.reason as StopReason);
  if (hasUnknownOutcome) return IN_DOUBT;
  if (continued) return undefined;
  return answer.finish === "tool_calls" ? { reason: "step_limit" } : endOf(answer);
}

const BROKEN = failed("internal_error", "The run failed inside Interlock.");
const POLICY_LOST = failed("budget_unavailable", "The run's budgets cannot be read.");
const TOO_LONG = failed("conversation_too_long", "The conversation has become too long to go on.");
const IN_DOUBT = failed(
  "outcome_unknown",
  "Nobody told in time what became of a tool call; look before it is repeated.",
);
