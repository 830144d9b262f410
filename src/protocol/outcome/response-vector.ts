import { responseTo, type TaxonomyClass } from "./taxonomy.ts";

/** What the loop does next (seeds/004, "Response Vector Model"). */
export type NextAction =
  | "continue"
  | "repair_arguments"
  | "ask_or_replan"
  | "stop_call"
  | "refresh_state_and_replan"
  | "request_approval"
  | "stop_or_ask_for_budget"
  | "retry_later"
  | "reconcile_outcome"
  | "proceed_without_tool"
  | "compensate"
  | "escalate_to_operator";

/** What may follow an outcome. The field names come from seeds/004. */
export type ResponseVector = {
  readonly error_code: TaxonomyClass;
  readonly repairable: boolean;
  readonly retryable: boolean;
  readonly requires_approval: boolean;
  readonly fail_closed: boolean;
  readonly escalate: boolean;
  readonly next_action: NextAction;
};

/** What a response depends on, in addition to the class. */
export interface DispatchState {
  /** The tool began to run. */
  readonly dispatched: boolean;
  /** The tool changes something. */
  readonly mutates: boolean;
  /** A second run under the same key changes nothing more. */
  readonly isIdempotent: boolean;
  /** The model has used up its repairs of this tool. */
  readonly repairEnded: boolean;
}

/** State of a call that was never dispatched. */
export const NOT_DISPATCHED: DispatchState = {
  dispatched: false,
  mutates: false,
  isIdempotent: false,
  repairEnded: false,
};

/** Classes after which the outcome of a dispatched mutation is unknown. */
const UNKNOWN_OUTCOME: ReadonlySet<TaxonomyClass> = new Set([
  "TIMEOUT",
  "DEPENDENCY_UNAVAILABLE",
  "UNKNOWN_ERROR",
  // The key is in use: an earlier attempt under this key is still running.
  "IDEMPOTENCY_CONFLICT",
] satisfies TaxonomyClass[]);

/** Classes after which the call changed something, but not exactly what it was asked for. */
const HALF_DONE: ReadonlySet<TaxonomyClass> = new Set([
  "COMPENSATION_REQUIRED",
  "COMPENSATION_FAILED",
] satisfies TaxonomyClass[]);

/** Tells whether a failed operation may have changed something. */
export function mayHaveChanged(
  taxonomyClass: TaxonomyClass,
  { dispatched, mutates }: Pick<DispatchState, "dispatched" | "mutates">,
): boolean {
  const isPossible = UNKNOWN_OUTCOME.has(taxonomyClass) || HALF_DONE.has(taxonomyClass);
  return dispatched && mutates && isPossible;
}

const NEXT: { readonly [Class in TaxonomyClass]: NextAction } = {
  SUCCESS: "continue",
  PARTIAL_SUCCESS: "continue",
  SYNTACTIC_PARSE_FAIL: "repair_arguments",
  STRUCTURAL_VIOLATION: "repair_arguments",
  TYPE_MISMATCH: "repair_arguments",
  OUT_OF_BOUNDS: "repair_arguments",
  SEMANTIC_INVALIDITY: "ask_or_replan",
  PERMISSION_DENIED: "stop_call",
  POLICY_VIOLATION: "stop_call",
  STALE_STATE: "refresh_state_and_replan",
  CONFIRMATION_MISSING: "request_approval",
  BUDGET_EXHAUSTED: "stop_or_ask_for_budget",
  RATE_LIMITED: "retry_later",
  TIMEOUT: "retry_later",
  IDEMPOTENCY_CONFLICT: "retry_later",
  SIGNATURE_MISMATCH: "stop_call",
  DEPENDENCY_UNAVAILABLE: "retry_later",
  OBSERVATION_NORMALIZATION_FAIL: "escalate_to_operator",
  COMPENSATION_REQUIRED: "compensate",
  COMPENSATION_FAILED: "escalate_to_operator",
  UNKNOWN_ERROR: "stop_call",
};

/**
 * Tells what may follow an outcome: a total function of its class, its contract and the dispatch
 * state. A mutation that may have happened is retried only if its contract is idempotent.
 * Contract: pure.
 */
export function respond(taxonomyClass: TaxonomyClass, state: DispatchState): ResponseVector {
  const table = responseTo(taxonomyClass);
  const mayRepeat = !state.dispatched || !state.mutates || state.isIdempotent;
  const isUnknown = UNKNOWN_OUTCOME.has(taxonomyClass) && !mayRepeat;
  const repairable = table.repairable && !state.repairEnded;
  return {
    error_code: taxonomyClass,
    repairable,
    retryable: table.retryable && mayRepeat,
    requires_approval: table.requiresApproval,
    fail_closed: table.failClosed || isUnknown,
    escalate: isUnknown || NEXT[taxonomyClass] === "escalate_to_operator",
    next_action: nextOf(taxonomyClass, { isUnknown, ended: state.repairEnded }),
  };
}

function nextOf(
  taxonomyClass: TaxonomyClass,
  { isUnknown, ended }: { readonly isUnknown: boolean; readonly ended: boolean },
): NextAction {
  if (isUnknown) return "reconcile_outcome";
  return ended ? "proceed_without_tool" : NEXT[taxonomyClass];
}
