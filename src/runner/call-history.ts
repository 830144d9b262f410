import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { FailureClass } from "../protocol/outcome/taxonomy.ts";
import type { CallLesson } from "../protocol/invocation/record.ts";
import { IMPLIED_LIMITS } from "../protocol/policy/limits.ts";

/** The same mistake in this many steps is not going to be corrected. */
const SAME_ERROR_LIMIT = 3;
/** The same call with the same result this many times is a loop. */
const SAME_RESULT_LIMIT = 3;
/** The limit above, in the words of messages. */
export const SAME_RESULT = "this call returned the same result three times";
/** Calls of a run whose results are remembered; the oldest go first. */
const MAX_REMEMBERED = 1_000;

/** Failures whose cause is not the call itself. */
const EXTERNAL: ReadonlySet<FailureClass> = new Set([
  "STALE_STATE",
  "RATE_LIMITED",
  "TIMEOUT",
  "IDEMPOTENCY_CONFLICT",
  "DEPENDENCY_UNAVAILABLE",
  "UNKNOWN_ERROR",
] satisfies FailureClass[]);

/** One call that ended. */
export interface FinishedCall {
  readonly toolId: string;
  readonly step: number;
  readonly lesson: CallLesson;
}

/** What follows from a call for the calls after it. */
export interface LessonTaken {
  /** The call returned the same result for the third time in a row. */
  readonly isLooping: boolean;
  /** The run goes on without the tool, because of this call. */
  readonly ends: boolean;
}

/**
 * Remembers the results of a run's calls, to stop a model that goes in circles: one that repeats a
 * mistake (seeds/004, "Repair Loop"), and one that repeats a call that returns nothing new.
 * Ownership: one per run.
 */
export class CallHistory {
  readonly #maxRepairs: number;
  readonly #repairs = new Map<string, Repairs>();
  readonly #withdrawn = new Set<string>();
  readonly #results = new Map<string, Repeated>();

  constructor(maxRepairs: number | undefined) {
    this.#maxRepairs = maxRepairs ?? IMPLIED_LIMITS.maxRepairs;
  }

  /** Tells whether the run goes on without this tool. */
  isWithdrawn(toolId: string): boolean {
    return this.#withdrawn.has(toolId);
  }

  /** Tells whether exactly this call has returned the same result too often. */
  isLooping(toolId: string, argumentsDigest: string): boolean {
    const repeated = this.#results.get(keyOf(toolId, argumentsDigest));
    return repeated !== undefined && repeated.count >= SAME_RESULT_LIMIT;
  }

  /**
   * Adds a call, of this incarnation of the run or of an earlier one. A refusal by people is no
   * mistake of the model: the approval gate itself refuses the same arguments again, and bounds
   * what one run asks.
   * Contract: deterministic in the order of calls.
   */
  take(call: FinishedCall): LessonTaken {
    const isLooping = call.lesson.begun && this.#noteResult(call);
    const { failureClass } = call.lesson;
    // A success forgives the earlier failures of its tool.
    if (failureClass === undefined) this.#repairs.delete(call.toolId);
    const isMistake = failureClass !== undefined && call.lesson.refusedByPeople !== true;
    const ends = isMistake && this.#noteFailure(call, failureClass);
    return { isLooping, ends };
  }

  /**
   * Notes a refused or failed call. Answers true when the run goes on without the tool: rights or
   * policy refused the tool itself, the same arguments were refused in an earlier step, the same
   * error occurred in too many steps, or the tool failed in too many steps since its last success.
   * Calls of one step count as one attempt, because the model asked for them before it saw any of
   * their results.
   */
  #noteFailure({ toolId, step, lesson }: FinishedCall, failureClass: FailureClass): boolean {
    if (EXTERNAL.has(failureClass)) return false;
    const { argumentsFingerprint: argumentsDigest, resultFingerprint: resultDigest } = lesson;
    const repairs = this.#repairsOf(toolId);
    const refusedBefore = (repairs.refused.get(argumentsDigest) ?? step) < step;
    repairs.refused.set(argumentsDigest, step);
    const sameErrors = countStep(repairs.errors, resultDigest, step);
    repairs.steps.add(step);
    const ends =
      lesson.refusedAsSuch === true ||
      refusedBefore ||
      sameErrors >= SAME_ERROR_LIMIT ||
      repairs.steps.size > this.#maxRepairs;
    if (ends) this.#withdrawn.add(toolId);
    return ends;
  }

  /**
   * Notes the result of a call. Answers true when it is the same for the third time in a row. A new
   * result is progress, and so is another effect in between.
   */
  #noteResult({ toolId, lesson }: FinishedCall): boolean {
    const key = keyOf(toolId, lesson.argumentsFingerprint);
    const known = this.#results.get(key);
    if (lesson.changed) this.#results.clear();
    const count = known?.resultDigest === lesson.resultFingerprint ? known.count + 1 : 1;
    this.#results.delete(key);
    this.#results.set(key, { resultDigest: lesson.resultFingerprint, count });
    const [oldest] = this.#results.keys();
    if (oldest !== undefined && this.#results.size > MAX_REMEMBERED) this.#results.delete(oldest);
    return count >= SAME_RESULT_LIMIT;
  }

  #repairsOf(toolId: string): Repairs {
    const known = this.#repairs.get(toolId);
    if (known) return known;
    const fresh: Repairs = { refused: new Map(), errors: new Map(), steps: new Set() };
    this.#repairs.set(toolId, fresh);
    return fresh;
  }
}

interface Repairs {
  /** The step in which arguments were refused first. */
  readonly refused: Map<string, number>;
  readonly errors: Map<string, CountedSteps>;
  /** The steps in which a call was refused. */
  readonly steps: Set<number>;
}

interface CountedSteps {
  readonly last: number;
  readonly count: number;
}

/** Counts the steps in which a key occurred; answers the count. */
function countStep(counted: Map<string, CountedSteps>, key: string, step: number): number {
  const known = counted.get(key);
  const count = (known?.count ?? 0) + (known?.last === step ? 0 : 1);
  counted.set(key, { last: step, count });
  return count;
}

interface Repeated {
  readonly resultDigest: string;
  readonly count: number;
}

function keyOf(toolId: string, argumentsDigest: string): string {
  return JSON.stringify([toolId, argumentsDigest]);
}

/** Formats what is equal for errors of one kind in the same places. */
export function formatErrorKinds({ taxonomyClass, errors }: ToolFailure): string {
  return JSON.stringify([taxonomyClass, ...errors.map(({ field, code }) => [field, code])]);
}
