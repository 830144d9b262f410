import type { Model } from "../../capabilities/model.ts";
import type { ModelFailure, ModelAnswer } from "../../protocol/model/event.ts";
import type { RunFacts } from "../../protocol/run/facts.ts";
import { cutStepOf } from "./crash.ts";
import type { Replay } from "./replay.ts";

/** A delay so long that nothing waits for it. */
export const NEVER_SECONDS = 1_000_000;

/** A recorded model answer of one step. */
export interface RecordedStep {
  readonly step: number;
  /** A text alone: a crash cut the call off. */
  readonly answer: ModelAnswer | { readonly text: string; readonly finish?: undefined };
}

/** A model that repeats its recorded answers. */
export interface ReplayModel extends Model {
  /** All recorded answers were given. */
  readonly isOver: boolean;
}

/**
 * Reads the model's answer of each step. The text comes from the log. The calls come from the
 * records of calls and of people, which alone hold the model's own arguments.
 */
export function readSteps({ evidence, people }: Replay): readonly RecordedStep[] {
  const { log, invocations, facts } = evidence;
  const withdrawn = new Set(
    log.flatMap((event) => (event.type === "text_withdrawn" ? event.parts : [])),
  );
  const cutStep = cutStepOf(evidence);
  const steps: RecordedStep[] = [];
  let text = "";
  let begun = 0;
  for (const event of log) {
    if (event.type === "step_started") [begun, text] = [event.step, ""];
    else if (event.type === "step_finished" && event.step === cutStep) break;
    else if (event.type === "model_changed") steps.push({ step: begun, answer: UNAVAILABLE });
    else if (event.type === "text_delta" && !withdrawn.has(event.part)) text += event.text;
    else if (event.type === "step_finished") {
      const { step, finish, usage } = event;
      const toolCalls = invocations
        .filter((record) => record.step === step && !record.saga)
        .toSorted((a, b) => a.number - b.number)
        .map((record) => {
          const { toolCallId, name, truncated } = record;
          return { toolCallId, name, argumentsText: people.proposedText(record), truncated };
        });
      const failure = finish === "error" ? failureOf(facts, step) : undefined;
      steps.push({ step, answer: { text, toolCalls, finish, usage, ...(failure && { failure }) } });
    }
  }
  return cutStep === undefined ? steps : [...steps, { step: cutStep, answer: { text } }];
}

/** The answer of a model that a fallback replaced. The replay's fallback replaces it again. */
const UNAVAILABLE: ModelAnswer = {
  text: "",
  toolCalls: [],
  finish: "error",
  failure: { code: "upstream_status", status: 404, detail: "" },
};

/**
 * Reads how the model call of the last step failed; without a record, the run was stopped before
 * its answer. A retry is in the log already, so none follows.
 */
function failureOf({ answer }: Pick<RunFacts, "answer">, step: number): ModelFailure {
  const failure = (answer?.step === step && answer.failure) || { code: "aborted" as const };
  return { ...failure, retryAfterSeconds: NEVER_SECONDS, detail: "" };
}

/**
 * Repeats the recorded answers in order. Contract: throws when more are asked for; the run then
 * ends.
 */
export function replayModel(
  { clock, crash, evidence, markNotReplayable, stop }: Replay,
  steps: readonly RecordedStep[],
): ReplayModel {
  let played = 0;
  return {
    get isOver() {
      return played >= steps.length;
    },
    // oxlint-disable-next-line require-await -- the port is asynchronous, what was said is here
    async *stream() {
      const next = steps[played++];
      if (!next) {
        // No record holds the token reservations of failed attempts.
        if (isOverTokens(evidence.facts)) markNotReplayable("unclear");
        throw new Error("the replay asks the model more often than the run did");
      }
      const { step, answer } = next;
      const first = evidence.invocations.find((record) => record.step === step);
      if (first) clock.set(first.end?.startedAtMs ?? first.askedAtMs);
      if (answer.text !== "") yield [{ type: "text_delta", text: answer.text }];
      if (answer.finish === undefined) return crash.now();
      if (answer.finish === "error") stop.now();
      yield [{ type: "answer", answer }];
    },
  };
}

/** The run itself had too few tokens, or too little money, left for its next model call. */
function isOverTokens({ because }: Pick<RunFacts, "because">): boolean {
  return because !== undefined && "exhausted" in because && because.whose === "run";
}
