import { FAILURES, type FailureCode } from "../outcome/failures.ts";
import type { TaxonomyClass } from "../outcome/taxonomy.ts";

/** What the outcome of a call means, in words. The type holds that each class has its words. */
export const OUTCOME_WORDS: Readonly<Record<TaxonomyClass, string>> = {
  SUCCESS: "it did what was asked",
  PARTIAL_SUCCESS: "a part of it happened and stays",
  SYNTACTIC_PARSE_FAIL: "its arguments could not be read",
  STRUCTURAL_VIOLATION: "its arguments, or its name, do not fit the contract",
  TYPE_MISMATCH: "an argument has the wrong type",
  OUT_OF_BOUNDS: "an argument is outside its bounds",
  SEMANTIC_INVALIDITY: "its arguments make no sense together",
  PERMISSION_DENIED: "the caller, or a person who was asked, does not allow it",
  POLICY_VIOLATION: "the policy, or a check of the deployment, forbids it",
  STALE_STATE: "what it assumed did not hold any more",
  CONFIRMATION_MISSING: "the approval that it needs is missing",
  BUDGET_EXHAUSTED: "a limit had no room for it",
  RATE_LIMITED: "there were too many calls in a short time",
  TIMEOUT: "the tool did not answer in time",
  IDEMPOTENCY_CONFLICT: "the same operation was running already",
  SIGNATURE_MISMATCH: "the same operation was asked for with other arguments",
  DEPENDENCY_UNAVAILABLE: "something that it needs could not be reached",
  OBSERVATION_NORMALIZATION_FAIL: "the tool returned something that does not fit its contract",
  COMPENSATION_REQUIRED: "a part of it happened and has to be undone",
  COMPENSATION_FAILED: "to undo it failed",
  UNKNOWN_ERROR: "it failed in a way that nobody expected, or it was stopped",
};

type Failures = typeof FAILURES;
/** Codes whose message names numbers or names, and so stands in no table. */
type VaryingCode = {
  [Code in FailureCode]: Failures[Code] extends readonly [unknown, string] ? never : Code;
}[FailureCode];

/** What such a code means, likewise. */
const VARYING_WORDS: Readonly<Record<VaryingCode, string>> = {
  budget_exhausted: "it would exceed what is left of a budget of the run or of the tenant",
  doom_loop: "the model made the same call again and again",
  compensation_failed: "a step of the saga could not be undone",
  not_undone: "a step of the saga stays as it is",
  step_failed: "a step of the saga failed",
  ledger_unavailable: "the budgets of the tenant could not be asked",
  result_refused: "the result is not what a service may answer",
  result_too_large: "the result is too large",
  arguments_too_deep: "the arguments are nested too deep",
  arguments_too_large: "the arguments are too large",
  argument_origin: "policy wants an argument to come from somewhere else",
  argument_rule: "an argument breaks a rule of the policy",
  call_order: "policy wants another tool to succeed first",
  other_currency: "the call counts money in another currency than the policy",
  rate_limited: "there were too many calls in a short time",
  withheld_field: "a field was sent that people may not see",
  timeout: "the tool did not answer in time",
  saga_undone: "the saga failed, and what it had made was undone",
};

/**
 * Says what the code of an error means; undefined for the code of a contract, a hook or a schema,
 * whose author names it.
 */
export function formatReason(code: string): string | undefined {
  if (!Object.hasOwn(FAILURES, code)) return undefined;
  const [, usual]: readonly [unknown, string?] = FAILURES[code as FailureCode];
  return usual ?? VARYING_WORDS[code as VaryingCode];
}
