import type { DispatchState } from "../../protocol/outcome/response-vector.ts";
import { respond } from "../../protocol/outcome/response-vector.ts";
import { mutates, type ActiveCall } from "../active-call.ts";
import type { AttemptResult } from "../pass-gates.ts";

const BASE_DELAY_MS = 250;
/** Whoever asks for more patience than this is not waited for. */
const MAX_DELAY_MS = 30_000;

/**
 * Tells how long to wait before the same call is tried again under the same key; undefined when it is
 * not. Exponential with jitter (seeds/004, "Retries versus Repair Loops"); an answer that names a time
 * is obeyed.
 * Contract: takes one retry of the run's when it answers a time.
 */
export function nextRetryMs(hand: ActiveCall, passage: AttemptResult): number | undefined {
  const { tool, attempt, ports, signal } = hand;
  if (passage.outcome.ok || signal.aborted || attempt > tool.maxRetries) return undefined;
  const { taxonomyClass, retryAfterMs } = passage.outcome.failure;
  if (!respond(taxonomyClass, dispatchStateOf(hand, passage)).retryable) return undefined;
  const backoffMs = BASE_DELAY_MS * 2 ** (attempt - 1);
  const delayMs = (retryAfterMs ?? backoffMs) + ports.random.fraction() * backoffMs;
  if (delayMs > MAX_DELAY_MS || !ports.budget.takeRetry()) return undefined;
  return Math.ceil(delayMs);
}

/** What the response to an outcome depends on beside its class. */
export function dispatchStateOf(
  { tool, doubt }: Pick<ActiveCall, "tool" | "doubt">,
  { dispatched, outcome }: Pick<AttemptResult, "dispatched" | "outcome">,
): DispatchState {
  const mayHaveRun = outcome.ok || outcome.failure.notCommitted !== true;
  return {
    dispatched: doubt !== undefined || (dispatched && mayHaveRun),
    mutates: mutates(tool),
    isIdempotent: tool.isIdempotent,
    repairEnded: false,
  };
}

/** Tells whether an attempt did what it was asked to, also where its output does not fit. */
export function hasHappened({
  dispatched,
  outcome,
}: Pick<AttemptResult, "dispatched" | "outcome">): boolean {
  if (!dispatched || outcome.ok) return dispatched;
  const { taxonomyClass, notCommitted } = outcome.failure;
  return taxonomyClass === "OBSERVATION_NORMALIZATION_FAIL" && notCommitted !== true;
}
