import type { ApprovalView } from "../protocol/approval/view.ts";

/** Every refusal over HTTP: its status and its title. The key is the stable `code`. */
const PROBLEMS = {
  unknown_route: { status: 404, title: "There is nothing at this address" },
  method_not_allowed: { status: 405, title: "This address does not take this method" },
  not_configured: { status: 503, title: "This deployment is not configured yet" },
  missing_token: { status: 401, title: "A bearer token is required" },
  invalid_token: { status: 401, title: "The bearer token is not known" },
  identity_unavailable: { status: 503, title: "Tokens cannot be verified at the moment" },
  origin_not_allowed: { status: 403, title: "Pages of this origin may not do this" },
  rate_limited: { status: 429, title: "Too many requests in too short a time" },
  insufficient_scope: { status: 403, title: "The token lacks the scope for this request" },
  unsupported_media_type: { status: 415, title: "The body must be application/json" },
  body_too_large: { status: 413, title: "The body is too large" },
  invalid_encoding: { status: 400, title: "The body is not UTF-8" },
  invalid_json: { status: 400, title: "The body is not JSON" },
  number_too_large: { status: 400, title: "A number in the body is too large" },
  json_too_deep: { status: 400, title: "The body nests too deeply" },
  forbidden_key: { status: 400, title: "A key in the body may not be used" },
  invalid_request: { status: 422, title: "The body does not have the expected shape" },
  tool_call_id_too_long: { status: 422, title: "A tool call id is longer than 128 characters" },
  tool_args_too_large: { status: 422, title: "Tool call arguments exceed 8 KB" },
  tool_result_too_large: { status: 422, title: "A tool result exceeds 32 KB" },
  orphan_tool_result: { status: 422, title: "A tool result answers no open tool call" },
  unanswered_tool_call: { status: 422, title: "A tool call has no result" },
  duplicate_tool_call_id: { status: 422, title: "A tool call id is used twice" },
  misplaced_message: { status: 422, title: "A message may not stand here" },
  model_not_allowed: { status: 422, title: "The model is not offered here" },
  tool_not_available: { status: 422, title: "A requested tool is not available" },
  tool_not_found: { status: 404, title: "There is no such tool" },
  conversation_too_long: { status: 422, title: "The conversation is too long to be continued" },
  connection_id_invalid: { status: 400, title: "A connection id is 1 to 64 of A-Z a-z 0-9 _ -" },
  request_key_invalid: { status: 400, title: "Idempotency-Key is not a key" },
  request_in_progress: {
    status: 409,
    title: "A request under this Idempotency-Key is in progress",
  },
  request_key_reused: { status: 422, title: "This Idempotency-Key belongs to another request" },
  query_invalid: { status: 400, title: "A query parameter is not valid" },
  wire_unknown: { status: 400, title: "No client wire has this name" },
  cursor_invalid: { status: 400, title: "The cursor does not belong to this list" },
  audit_unavailable: { status: 503, title: "The audit log could not be written" },
  run_not_found: { status: 404, title: "There is no such run" },
  run_expired: { status: 410, title: "The run is over and its record is not kept any more" },
  invocation_not_found: { status: 404, title: "There is no such invocation" },
  outcome_not_awaited: { status: 409, title: "Nobody is asked what became of this invocation" },
  approval_not_found: { status: 404, title: "There is no such approval" },
  approval_closed: { status: 409, title: "The approval was decided before" },
  approver_not_allowed: { status: 403, title: "The caller may not decide this" },
  arguments_refused: { status: 422, title: "The tool does not take these arguments" },
  run_still_running: { status: 409, title: "The run has not ended yet" },
  run_ended: { status: 409, title: "The run takes no more messages" },
  too_many_messages: { status: 429, title: "Too many messages wait for the run's next step" },
  event_id_invalid: { status: 400, title: "Last-Event-ID is not an event id" },
  event_id_unknown: { status: 409, title: "The run has not reached this event" },
  policy_missing: { status: 404, title: "The tenant has no policy yet" },
  policy_unavailable: { status: 503, title: "The policy cannot be read or stored" },
  precondition_invalid: { status: 400, title: "The precondition cannot be understood" },
  precondition_failed: { status: 412, title: "The policy is not the one that was expected" },
  precondition_required: { status: 428, title: "The request must say which revision it replaces" },
  too_many_readers: { status: 429, title: "Too many readers follow this run" },
  storage_too_new: {
    status: 503,
    title: "A newer version of the service has written this record",
  },
  internal_error: { status: 500, title: "Interlock failed" },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** What a problem says beyond its code. */
export interface ProblemDetail {
  /** One sentence for people; never a secret, never another tenant's data. */
  readonly detail?: string;
  /** Where the body is wrong, as JSON pointers. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
  /** The revision of the policy that stands. */
  readonly revision?: number;
  /** What stands instead of what the caller wanted to decide. */
  readonly approval?: ApprovalView;
  /** Why this caller may not. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Builds the answer to a refused request, as RFC 9457 problem details. */
export function problem(code: ProblemCode, extra: ProblemDetail = {}): Response {
  const { status, title } = PROBLEMS[code];
  const { headers, ...members } = extra;
  return Response.json(
    { type: "about:blank", title, status, code, ...members },
    { status, headers: { ...headers, "content-type": "application/problem+json" } },
  );
}
