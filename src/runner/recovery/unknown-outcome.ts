import type { FieldError, ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import { leavesDoubt } from "../../protocol/outcome/response-vector.ts";
import { fail } from "../../protocol/outcome/result.ts";
import type { ToolExecResult, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { TIMED_OUT } from "../ask-tool.ts";
import type { ActiveCall } from "../active-call.ts";
import {
  conclude,
  concludeConfirmed,
  concludeEarly,
  concludeExpired,
  type Ending,
} from "../conclude.ts";
import { normaliseOutput } from "../gates/normalise-output.ts";
import type { AttemptResult } from "../pass-gates.ts";
import { reconcile, type Found } from "./reconcile.ts";
import { dispatchStateOf, hasHappened } from "./retry.ts";
import { WAITING } from "../waiting.ts";

/** What follows when nobody in here knows what became of an operation. */
export type Settled =
  | { readonly kind: "ended"; readonly result: ToolExecResult | typeof WAITING }
  /** It did not happen, and may be tried again. */
  | { readonly kind: "retracted"; readonly hand: ActiveCall };

/** Stands for the word of a tool that an interruption kept from saying any. */
export const INTERRUPTED: ToolFailure = {
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [
    { field: null, code: "interrupted", message: "the run was interrupted while the tool ran" },
  ],
};

/** Tells why nobody knows what became of an operation after an attempt; undefined when that is known. */
export function doubtAfter(hand: ActiveCall, passage: AttemptResult): ToolFailure | undefined {
  const { dispatched, outcome } = passage;
  if (outcome.ok || hasHappened(passage)) return undefined;
  const inDoubt =
    dispatched && leavesDoubt(outcome.failure.taxonomyClass, dispatchStateOf(hand, passage));
  // What one attempt is told says nothing about those before it.
  return inDoubt ? outcome.failure : hand.doubt;
}

/**
 * Finds out what became of an operation whose tool was asked and whose effect is in doubt (design,
 * section 5): from the contract's `reconcile`, else from an operator. It is never tried blindly again.
 */
export async function settleDoubt(hand: ActiveCall, doubt: ToolFailure): Promise<Settled> {
  if (hand.signal.aborted) return ended(concludeStopped(hand, doubt));
  const found = await reconcile(hand);
  const answer = isStillOpen(hand, doubt, found.answer) ? UNKNOWN : found.answer;
  switch (answer.kind) {
    case "committed":
      return ended(await concludeFound(hand, { ...found, answer }));
    case "not_committed":
      return retract(hand, doubt, found);
    case "unknown":
      if (hand.signal.aborted) return ended(concludeStopped(hand, doubt));
      awaitOperator(hand);
      return ended(WAITING);
  }
}

/**
 * Tells whether what has not happened may happen yet: an attempt whose time was up was left behind, and
 * may act after the contract was asked. Only an idempotent tool may be asked again beside it.
 */
function isStillOpen(
  { tool }: ActiveCall,
  { errors }: ToolFailure,
  { kind }: Reconciliation<unknown>,
): boolean {
  const isLeftBehind = errors.some(({ code }) => code === TIMED_OUT);
  return kind === "not_committed" && isLeftBehind && !tool.isIdempotent;
}

const UNKNOWN = { kind: "unknown" } as const;

/** Ends a call in doubt whose run is stopped: it does not wait for the truth. */
export function concludeStopped(ending: Ending, doubt: ToolFailure): ToolExecResult {
  return concludeExpired(ending, withWord(doubt, STOPPED));
}

/**
 * Ends a call of which an operator, or the end of the waiting for one, has told what became of it. Its
 * tool need not be there any more.
 */
export function concludeSettled(
  ending: Ending,
  { outcome }: NonNullable<ToolInvocationRecord["settlement"]>,
): ToolExecResult {
  switch (outcome) {
    case "committed":
      return concludeConfirmed(ending);
    case "not_committed":
      return concludeEarly(ending, withWord(INTERRUPTED, NOT_COMMITTED));
    case "expired":
      return concludeExpired(ending, UNANSWERED);
  }
}

/** Leaves the question to an operator, and says so to whoever reads along. */
export function awaitOperator({ ports, context }: Pick<ActiveCall, "ports" | "context">): void {
  const { part, toolCallId } = context;
  const untilMs = ports.clock.nowMs() + ports.outcomeWaitMs;
  ports.invocations.awaitOutcome(context, untilMs);
  ports.journal.append([{ type: "tool_call_waiting", part, toolCallId, untilMs }]);
}

const STOPPED = {
  field: null,
  code: "outcome_unknown",
  message: "the run was stopped, and nobody knows whether this happened",
};
const NOT_COMMITTED = {
  field: null,
  code: "not_committed",
  message: "this did not happen",
};
const UNANSWERED: ToolFailure = {
  taxonomyClass: "UNKNOWN_ERROR",
  errors: [
    {
      field: null,
      code: "outcome_unknown",
      message: "nobody told in time whether this happened; it must not be repeated without a look",
    },
  ],
};

function withWord(failure: ToolFailure, word: FieldError): ToolFailure {
  return { ...failure, errors: [...failure.errors, word] };
}

function ended(result: ToolExecResult | typeof WAITING): Settled {
  return { kind: "ended", result };
}

function concludeFound(hand: ActiveCall, found: Found & Committed): Promise<ToolExecResult> {
  const outcome = normaliseOutput(hand, found.answer.output);
  return conclude(hand, { ...passageOf(hand, found), outcome, isReplay: true });
}

type Committed = {
  readonly answer: Extract<Reconciliation<unknown>, { readonly kind: "committed" }>;
};

/** An operation that did not happen may be made again, once even where its contract has no retries. */
async function retract(hand: ActiveCall, doubt: ToolFailure, found: Found): Promise<Settled> {
  const { ports, tool, context, attempt } = hand;
  ports.invocations.retract(context);
  if (attempt <= Math.max(tool.maxRetries, 1) && ports.budget.takeRetry()) {
    const again = { ...hand, attempt: attempt + 1, begun: undefined, doubt: undefined };
    return { kind: "retracted", hand: again };
  }
  const settled = { ...hand, doubt: undefined };
  const failure = { ...withWord(doubt, NOT_COMMITTED), notCommitted: true as const };
  return ended(await conclude(settled, { ...passageOf(hand, found), outcome: fail(failure) }));
}

function passageOf(
  { begun, context }: ActiveCall,
  { args, argumentsFingerprint }: Found,
): Omit<AttemptResult, "outcome"> {
  return { argumentsFingerprint, ...(args && { args }), begun: begun ?? context, dispatched: true };
}
