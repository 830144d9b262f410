import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { RunFacts } from "../../protocol/run/facts.ts";
import { codeOf, type RunEvidence } from "./evidence.ts";

/** How an incarnation of a replay ends without an end of the run. */
export const CRASHED = "crashed";

type StepFinished = Extract<AiEvent, { readonly type: "step_finished" }>;
type EndedLog = Pick<RunEvidence, "log" | "facts">;

/**
 * Begins another incarnation of a replay where the end of the run depends on what a crash or a
 * failed attempt cost: in a model call that was cut off and not allowed again, after the last step,
 * and in a write that was stopped before anybody asked about it. After any other crash the next
 * incarnation did what an uninterrupted one does. Evidence that was cut ends with its last step.
 * Ownership: one replay.
 */
export class RecordedCrash {
  readonly #evidence: RunEvidence;
  readonly #lastStep: number | undefined;
  #death = Promise.withResolvers<typeof CRASHED>();

  constructor(evidence: RunEvidence) {
    this.#evidence = evidence;
    this.#lastStep = evidence.untilStep ?? stepBeforeLimit(evidence);
  }

  /** Begins an incarnation. Resolves once it dies. */
  begin(): Promise<typeof CRASHED> {
    this.#death = Promise.withResolvers();
    return this.#death.promise;
  }

  /** Ends the incarnation. Contract: never resolves, because nobody is left to go on. */
  now(): Promise<never> {
    this.#death.resolve(CRASHED);
    return new Promise(() => {});
  }

  /** Tells whether the incarnation ends with this event. */
  isAfter(event: AiEvent): boolean {
    return event.type === "step_finished" && event.step === this.#lastStep;
  }

  /** Tells whether the object of the run died while this write was under way. */
  hasCut({ step, toolCallId, dispatches }: ToolInvocationRecord): boolean {
    const { facts, invocations } = this.#evidence;
    const record = invocations.find((one) => one.step === step && one.toolCallId === toolCallId);
    const hasAsked = record?.awaitedUntilMs !== undefined;
    if (dispatches === 0 || record?.state !== "EXPIRED" || hasAsked) return false;
    return wasStopped(facts) && codeOf(record) === "interrupted";
  }
}

/**
 * Finds the step whose model call a crash cut off, and whose model was not asked again.
 * Contract: pure; undefined where there is none, and where a stop ended the step.
 */
export function cutStepOf({ log, facts }: EndedLog): number | undefined {
  const { begun, finished } = lastStepOf(log);
  if (begun === undefined || facts.answer?.step === begun) return undefined;
  const isRefused = finished?.finish === "error" && !wasStopped(facts);
  return finished?.step !== begun || isRefused ? begun : undefined;
}

/** Finds the last step of a run whose next model call a limit of the run forbade. */
function stepBeforeLimit({ log, facts }: EndedLog): number | undefined {
  const { begun, finished } = lastStepOf(log);
  const done = log.at(-1);
  const isLimited = done?.type === "done" && done.reason === "step_limit";
  const isOver = facts.because !== undefined && "exhausted" in facts.because;
  return finished?.step === begun && finished?.continued && (isLimited || isOver)
    ? begun
    : undefined;
}

/** Tells whether the last incarnation only closed the run: its loop had failed too often. */
export function wasClosed({ log, facts }: EndedLog): boolean {
  const { begun, finished } = lastStepOf(log);
  return wasStopped(facts) && begun !== undefined && finished?.step !== begun;
}

/**
 * What the replay begins with: the recorded model calls that have no step of their own. Those are
 * retries, and count against the step limit. Where the run ended in front of a model call, the last
 * incarnation counts them.
 */
export function countsAtStart(evidence: EndedLog): Partial<RunFacts> {
  const { log, facts } = evidence;
  const steps = log.filter(({ type }) => type === "step_started").length;
  if (steps === 0) return countsAtEnd(evidence);
  const isCounted = cutStepOf(evidence) !== undefined || stepBeforeLimit(evidence) !== undefined;
  return { modelCalls: isCounted ? 0 : Math.max(0, facts.modelCalls - steps) };
}

/** What all model calls of the run have used, as its last incarnation found it. */
export function countsAtEnd({ facts }: Pick<RunEvidence, "facts">): Partial<RunFacts> {
  const { modelCalls, tokens, cost, reservation } = facts;
  return {
    modelCalls,
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
    ...(reservation && { reservation }),
  };
}

function wasStopped({ because }: RunFacts): boolean {
  return because !== undefined && "stopped" in because;
}

function lastStepOf(log: readonly AiEvent[]): {
  readonly begun: number | undefined;
  readonly finished: StepFinished | undefined;
} {
  return {
    begun: log.findLast((event) => event.type === "step_started")?.step,
    finished: log.findLast((event) => event.type === "step_finished"),
  };
}
