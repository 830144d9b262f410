import type { Model } from "../../capabilities/model.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { ModelFailure, ModelAnswer } from "../../protocol/model/event.ts";
import { overBudget } from "../run-end.ts";
import type { Replay, RunEvidence } from "./evidence.ts";

/** What is never waited for. */
export const NEVER_SECONDS = 1_000_000;

/** One step's model call, as its run has recorded it. */
export interface RecordedStep {
  readonly step: number;
  readonly answer: ModelAnswer;
}

/** A model that says what it said. */
export interface ReplayModel extends Model {
  /** It has said everything. */
  readonly isOver: boolean;
}

/**
 * Reads what the model answered in each step: text out of the log, calls out of the records, which alone
 * hold what the model wrote.
 */
export function readSteps({ log, invocations }: RunEvidence): readonly RecordedStep[] {
  const withdrawn = new Set(
    log.flatMap((event) => (event.type === "text_withdrawn" ? event.parts : [])),
  );
  const turns: RecordedStep[] = [];
  let text = "";
  for (const event of log) {
    if (event.type === "step_started") text = "";
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
      turns.push({ step, answer: { text, toolCalls, finish, usage, ...(failure && { failure }) } });
    }
  }
  return turns;
}

/** The run's last word names the failure; what is asked for again after it was asked for then. */
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

/** Plays the turns in order. Contract: throws when it is asked for another one, which ends the replay. */
export function replayModel(
  { clock, evidence, markNotReplayable }: Replay,
  turns: readonly RecordedStep[],
): ReplayModel {
  let played = 0;
  return {
    get isOver() {
      return played >= turns.length;
    },
    // oxlint-disable-next-line require-await -- the port is asynchronous, what was said is here
    async *stream() {
      const next = turns[played++];
      if (!next) {
        // What attempts that failed had held is in no record.
        if (isOverTokens(evidence.log.at(-1))) markNotReplayable("unclear");
        throw new Error("the model was not asked so often");
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
  return done?.type === "done" && done.error?.message === OVER_TOKENS;
}

const OVER_TOKENS = overBudget("tokens").error?.message;
