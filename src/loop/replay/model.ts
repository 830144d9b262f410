import type { Model } from "../../capabilities/model.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { ModelFailure, ModelAnswer } from "../../protocol/model/event.ts";
import { overBudget } from "../run-end.ts";
import type { Replay, RunEvidence } from "./evidence.ts";

/** A delay so long that nothing waits for it. */
export const NEVER_SECONDS = 1_000_000;

/** A recorded model answer of one step. */
export interface RecordedStep {
  readonly step: number;
  readonly answer: ModelAnswer;
}

/** A model that repeats its recorded answers. */
export interface ReplayModel extends Model {
  /** All recorded answers were given. */
  readonly isOver: boolean;
}

/**
 * Reads the model's answer of each step. The text comes from the log. The calls come from the
 * invocation records, which alone hold the model's own arguments.
 */
export function readSteps({ log, invocations }: RunEvidence): readonly RecordedStep[] {
  const withdrawn = new Set(
    log.flatMap((event) => (event.type === "text_withdrawn" ? event.parts : [])),
  );
  const steps: RecordedStep[] = [];
  let text = "";
  let begun = 0;
  for (const event of log) {
    if (event.type === "step_started") [begun, text] = [event.step, ""];
    else if (event.type === "model_changed") steps.push({ step: begun, answer: UNAVAILABLE });
    else if (event.type === "text_delta" && !withdrawn.has(event.part)) text += event.text;
    else if (event.type === "step_finished") {
      const { step, finish, usage } = event;
      const toolCalls = invocations
        .filter((record) => record.step === step)
        .toSorted((a, b) => a.number - b.number)
        .map(({ toolCallId, name, argumentsText, truncated }) => {
          return { toolCallId, name, argumentsText, truncated };
        });
      const failure = finish === "error" ? failureOf(log.at(-1)) : undefined;
      steps.push({ step, answer: { text, toolCalls, finish, usage, ...(failure && { failure }) } });
    }
  }
  return steps;
}

/** The answer of a model that a fallback replaced. The replay's fallback replaces it again. */
const UNAVAILABLE: ModelAnswer = {
  text: "",
  toolCalls: [],
  finish: "error",
  failure: { code: "upstream_status", status: 404, detail: "" },
};

/** Reads a model failure from the `done` event. A retry is in the log already, so none follows. */
function failureOf(done: AiEvent | undefined): ModelFailure {
  const { code = "", message = "" } = (done?.type === "done" && done.error) || {};
  const [, status] = /HTTP (\d{3})\.$/.exec(message) ?? [];
  return {
    code: code as ModelFailure["code"],
    ...(status !== undefined && { status: Number(status) }),
    retryAfterSeconds: NEVER_SECONDS,
    detail: "",
  };
}

/**
 * Repeats the recorded answers in order. Contract: throws when more are asked for; the run then
 * ends.
 */
export function replayModel(
  { clock, evidence, markNotReplayable }: Replay,
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
        if (isOverTokens(evidence.log.at(-1))) markNotReplayable("unclear");
        throw new Error("the replay asks the model more often than the run did");
      }
      const { step, answer } = next;
      const first = evidence.invocations.find((record) => record.step === step);
      if (first) clock.set(first.end?.startedAtMs ?? first.askedAtMs);
      if (answer.text !== "") yield [{ type: "text_delta", text: answer.text }];
      yield [{ type: "answer", answer }];
    },
  };
}

function isOverTokens(done: AiEvent | undefined): boolean {
  const message = done?.type === "done" ? done.error?.message : undefined;
  return message !== undefined && OVER_TOKENS.has(message);
}

const OVER_TOKENS: ReadonlySet<string | undefined> = new Set([
  overBudget("tokens").error?.message,
  overBudget("cost").error?.message,
]);
