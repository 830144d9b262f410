import { fail } from "./result.ts";
import type { FieldError, ToolFailure } from "./observation.ts";
import type { FailureClass } from "./taxonomy.ts";

/**
 * Every code with which the runtime itself ends a call or remarks on its end: the class of the
 * failure, and the usual message. A code without a message gets one of its caller, with numbers or
 * names. A remark has no class: it stands beside the failure of something else. The codes of an
 * author's contract, of a hook and of a schema are free texts.
 */
export const FAILURES = {
  approval_requests_exhausted: [
    "BUDGET_EXHAUSTED",
    "this run may ask people about no further call; go on without their approval",
  ],
  budget_exhausted: ["BUDGET_EXHAUSTED"],
  cost_capped: [
    "BUDGET_EXHAUSTED",
    "policy caps what calls of this tool cost, and this call would exceed what is left",
  ],
  doom_loop: ["BUDGET_EXHAUSTED"],
  raise_refused: [
    "BUDGET_EXHAUSTED",
    "this call would exceed a limit of the run, and people did not raise it; go on without it",
  ],
  too_many_approvals: [
    "BUDGET_EXHAUSTED",
    "too many calls of this run wait for people; ask again when people have decided",
  ],
  too_many_approvals_of_actor: [
    "BUDGET_EXHAUSTED",
    "too many calls of this person wait for people; ask again when people have decided",
  ],
  too_many_approvals_of_tenant: [
    "BUDGET_EXHAUSTED",
    "too many calls wait for people; ask again when people have decided",
  ],
  tool_withdrawn: [
    "BUDGET_EXHAUSTED",
    "this tool is not available any more in this run; go on without it",
  ],
  compensation_failed: ["COMPENSATION_FAILED"],
  not_undone: ["COMPENSATION_FAILED"],
  step_failed: ["COMPENSATION_FAILED"],
  approval_expired: ["CONFIRMATION_MISSING", "nobody approved this call in time"],
  approval_invalid: ["CONFIRMATION_MISSING", "the approval is not valid for this call"],
  approval_used: ["CONFIRMATION_MISSING", "the approval was used before"],
  approval_withdrawn: ["CONFIRMATION_MISSING", "the approval request for this call is closed"],
  amount_unknown: [
    "DEPENDENCY_UNAVAILABLE",
    "the amount of money that this call moves cannot be read, so the call was not made",
  ],
  approvals_unavailable: [
    "DEPENDENCY_UNAVAILABLE",
    "open approvals cannot be counted; try again later",
  ],
  interrupted: ["DEPENDENCY_UNAVAILABLE", "the run was interrupted while the tool ran"],
  ledger_unavailable: ["DEPENDENCY_UNAVAILABLE"],
  no_answer: ["DEPENDENCY_UNAVAILABLE", "no attempt so far told whether this happened"],
  policy_unavailable: [
    "DEPENDENCY_UNAVAILABLE",
    "the policy of this call cannot be read; try again later",
  ],
  tools_unavailable: ["DEPENDENCY_UNAVAILABLE", "the tools cannot be read; try again later"],
  unreadable_connection: ["DEPENDENCY_UNAVAILABLE", "the connection cannot be read"],
  workspace_unavailable: [
    "DEPENDENCY_UNAVAILABLE",
    "the workspace cannot be opened; nothing was changed",
  ],
  in_progress: ["IDEMPOTENCY_CONFLICT", "the same operation is running; its result will come"],
  invalid_output: [
    "OBSERVATION_NORMALIZATION_FAIL",
    "the tool ran, but its output does not fit its contract",
  ],
  result_refused: ["OBSERVATION_NORMALIZATION_FAIL"],
  result_too_large: ["OBSERVATION_NORMALIZATION_FAIL"],
  arguments_too_deep: ["OUT_OF_BOUNDS"],
  arguments_too_large: ["OUT_OF_BOUNDS"],
  arguments_too_long: ["OUT_OF_BOUNDS", "the arguments of the operation are too long"],
  not_an_amount: [
    "OUT_OF_BOUNDS",
    "expected an amount of money, not negative and no larger than can be counted",
  ],
  number_too_large: ["OUT_OF_BOUNDS", "the arguments hold a number that is too large"],
  approval_rejected: [
    "PERMISSION_DENIED",
    "a person rejected exactly this call before; it is not requested again",
  ],
  caller_not_allowed: ["PERMISSION_DENIED", "policy does not let this caller use this tool"],
  connection_ambiguous: [
    "PERMISSION_DENIED",
    "more than one connection is granted and requested for this tool",
  ],
  nobody_may_answer: [
    "PERMISSION_DENIED",
    "this call has a question to a person, and the run acts for nobody who could answer",
  ],
  nobody_may_approve: [
    "PERMISSION_DENIED",
    "nobody may approve this call with these arguments, so nobody was asked",
  ],
  no_connection: ["PERMISSION_DENIED", "no connection is both granted and requested for this tool"],
  no_delegation: ["PERMISSION_DENIED", "the caller may not do this on behalf of that person"],
  no_permission: ["PERMISSION_DENIED", "the caller lacks the permission for this tool"],
  no_workspace: [
    "PERMISSION_DENIED",
    "the caller is a member of no such workspace, or has to name one",
  ],
  over_caller_limit: [
    "PERMISSION_DENIED",
    "this call moves more money than the caller may ask for",
  ],
  unknown_connection: ["PERMISSION_DENIED", "the connection does not exist"],
  after_untrusted: [
    "POLICY_VIOLATION",
    "policy refuses this call after text that others may have written; go on without it",
  ],
  argument_origin: ["POLICY_VIOLATION"],
  argument_rule: ["POLICY_VIOLATION"],
  data_not_allowed: [
    "POLICY_VIOLATION",
    "policy does not let this data go to this model, assistant, person or service",
  ],
  call_order: ["POLICY_VIOLATION"],
  hook_failed: ["POLICY_VIOLATION", "a check of this deployment failed"],
  no_policy: ["POLICY_VIOLATION", "there is no policy that allows this call"],
  not_allowed: ["POLICY_VIOLATION", "policy does not allow this tool"],
  other_currency: ["POLICY_VIOLATION"],
  read_only: ["POLICY_VIOLATION", "a call that may only read named an operation that writes"],
  tool_gone: ["POLICY_VIOLATION", "this version of the tool does not exist any more"],
  rate_limited: ["RATE_LIMITED"],
  no_answer_given: ["SEMANTIC_INVALIDITY", "this request asks a question; send its answer"],
  no_question: ["SEMANTIC_INVALIDITY", "this request asks no question; approve or reject it"],
  raise_without_arguments: [
    "SEMANTIC_INVALIDITY",
    "this request is about a limit of the run; grant or reject it without arguments",
  ],
  undoes: [
    "SEMANTIC_INVALIDITY",
    "these arguments undo another call; approve the call as it is, or reject it",
  ],
  withheld_field: ["SEMANTIC_INVALIDITY"],
  other_payload: [
    "SIGNATURE_MISMATCH",
    "the same operation was asked for before with other arguments",
  ],
  begun: [
    "STALE_STATE",
    "the call has begun with these arguments; approve it as it is, or reject it",
  ],
  keeps_changing: [
    "STALE_STATE",
    "what people see of this call changes each time before it can begin; do not ask again",
  ],
  key_expired: ["STALE_STATE", "the service no longer recognises a repetition of this call"],
  run_ended: [
    "STALE_STATE",
    "a check of this deployment ended the run before this call began, so it was not made",
  ],
  skipped: [
    "STALE_STATE",
    "the user sent a message before this call began, so it was not made; ask again if needed",
  ],
  target_changed: [
    "STALE_STATE",
    "the connection or the address of the service changed after an attempt of this call",
  ],
  forbidden_key: ["STRUCTURAL_VIOLATION", "no field may be named __proto__"],
  unknown_operation: ["STRUCTURAL_VIOLATION", "the workspace has no such operation"],
  unknown_tool: ["STRUCTURAL_VIOLATION", "there is no such tool"],
  not_an_object: ["SYNTACTIC_PARSE_FAIL", "the arguments must be one JSON object"],
  not_json: ["SYNTACTIC_PARSE_FAIL", "the arguments are not valid JSON"],
  not_unicode: ["SYNTACTIC_PARSE_FAIL", "the arguments hold half a character"],
  truncated: ["SYNTACTIC_PARSE_FAIL", "the arguments were cut off before they were complete"],
  deadline_passed: [
    "TIMEOUT",
    "the call reached the workspace after its deadline; nothing was changed",
  ],
  timeout: ["TIMEOUT"],
  cancelled: ["UNKNOWN_ERROR", "the run was stopped before the tool answered"],
  no_step_arguments: ["UNKNOWN_ERROR", "the arguments of this step could not be made"],
  operation_failed: ["UNKNOWN_ERROR", "the operation failed; nothing was changed"],
  outcome_unknown: [
    "UNKNOWN_ERROR",
    "no operator said in time whether this happened; look before you ask for it again",
  ],
  tool_failed: ["UNKNOWN_ERROR", "the tool failed"],
  not_committed: [null, "this did not happen"],
  repair_ended: [
    null,
    "this mistake was not corrected; the tool is not available any more in this run",
  ],
  saga_undone: [null],
} as const satisfies Readonly<Record<string, readonly [FailureClass | null, string?]>>;

type Failures = typeof FAILURES;
/** A code of the runtime. */
export type FailureCode = keyof Failures;
/** A code that alone ends a call. */
export type EndingCode = {
  [Code in FailureCode]: Failures[Code][0] extends FailureClass ? Code : never;
}[FailureCode];
/** The message may be left out where the table has one. */
type Message<Code extends FailureCode> = Failures[Code] extends readonly [unknown, string]
  ? [message?: string]
  : [message: string];

/** Builds the error of a code; it concerns the whole call. */
export function errorOf<Code extends FailureCode>(
  code: Code,
  ...[message]: Message<Code>
): FieldError {
  const [, usual = ""]: readonly [unknown, string?] = FAILURES[code];
  return { field: null, message: message ?? usual, code };
}

/** Builds the failure of a call that a code ends. */
export function failCall<Code extends EndingCode>(
  code: Code,
  ...message: Message<Code>
): { readonly ok: false; readonly failure: ToolFailure } {
  return fail({ taxonomyClass: FAILURES[code][0], errors: [errorOf(code, ...message)] });
}

/** Builds the failure of a call that a code ends because of one field of its arguments. */
export function failField<Code extends EndingCode>(
  field: string | null,
  code: Code,
  ...message: Message<Code>
): { readonly ok: false; readonly failure: ToolFailure } {
  return fail({
    taxonomyClass: FAILURES[code][0],
    errors: [{ ...errorOf(code, ...message), field }],
  });
}
