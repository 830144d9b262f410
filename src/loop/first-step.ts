import type { RunJournal } from "../capabilities/run-journal.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import { NO_USAGE } from "../protocol/model/usage.ts";
import { returnedCalls } from "./calls/client-calls.ts";
import { finishOpenParts, type RunMemory } from "./run-memory.ts";
import type { LoopState } from "./run-scope.ts";
import type { Step, StepResult } from "./run-step.ts";

/** Names the step that an incarnation begins with: an unfinished one, or the next one. */
export function firstStep({ facts, progress }: RunMemory): Step {
  const { lastStep, isStepOpen } = progress;
  if (!isStepOpen) return stepAfter({ number: lastStep });
  const answer = facts.answer?.step === lastStep ? facts.answer : undefined;
  return { number: lastStep, hasBegun: true, answer };
}

/** Names the step after a finished one. */
export function stepAfter({ number }: Pick<Step, "number">): Step {
  return { number: number + 1, hasBegun: false, answer: undefined };
}

/** Reads the last step's result when an earlier incarnation finished the step, and none follows. */
export function readLastResult(
  { facts: { answer }, progress }: RunMemory,
  { invocations, transcript }: Pick<LoopState, "invocations" | "transcript">,
): StepResult | undefined {
  const { lastStep, isContinued } = progress;
  if (isContinued || answer?.step !== lastStep) return undefined;
  const hasUnknownOutcome = invocations.ofStep(lastStep).some(({ state }) => state === "EXPIRED");
  const hasReturned = returnedCalls(transcript, answer).length > 0;
  return { answer, continued: false, hasUnknownOutcome, hasReturned };
}

/** Withdraws the text of a model call that a crash cut off. The model is asked again. */
export function withdrawPartialText(journal: Pick<RunJournal, "append">, memory: RunMemory): void {
  const { hasBegun, answer } = firstStep(memory);
  if (!hasBegun || answer) return;
  const { texts } = memory.progress;
  journal.append(finishOpenParts(memory.progress));
  if (texts.length > 0) journal.append([{ type: "text_withdrawn", parts: texts }]);
}

/** Builds the event that finishes a step whose model call was not allowed again. */
export function unansweredStep({ number }: Step): AiEvent {
  return {
    type: "step_finished",
    step: number,
    finish: "error",
    usage: NO_USAGE,
    continued: false,
  };
}
