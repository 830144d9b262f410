/** Every refusal over HTTP, by its stable `code`. A title says what is wrong and what to do. */
export const PROBLEMS = {
  unknown_route: {
    status: 404,
    title: "There is nothing at this address. See docs/http.md for the addresses.",
  },
  method_not_allowed: {
    status: 405,
    title: "This address does not take this method. The header Allow names those that it takes.",
  },
  not_configured: {
    status: 503,
    title: "This deployment is not configured yet. Set what the detail names.",
  },
  missing_token: {
    status: 401,
    title: "A bearer token is required. Send it in the header Authorization.",
  },
  invalid_token: {
    status: 401,
    title: "The bearer token is unknown, expired or not meant for this deployment. Get a new one.",
  },
  identity_unavailable: {
    status: 503,
    title: "Tokens cannot be verified at the moment. Try again after the time in Retry-After.",
  },
  origin_not_allowed: {
    status: 403,
    title: "This origin is not allowed. The policy and the embed token must name the origin.",
  },
  rate_limited: {
    status: 429,
    title: "Too many requests in a short time. Try again after the time in Retry-After.",
  },
  insufficient_scope: {
    status: 403,
    title: "The token may not make this request. Use a token with the needed scope.",
  },
  minting_not_allowed: {
    status: 403,
    title: "The caller may not mint embed tokens for this person. The detail says who may.",
  },
  embed_token_unusable: {
    status: 422,
    title: "No run could use this embed token. The errors say why.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The body is not declared as JSON. Send Content-Type: application/json.",
  },
  body_too_large: { status: 413, title: "The body is too large. Send a smaller one." },
  invalid_encoding: { status: 400, title: "The body is not valid UTF-8. Encode it as UTF-8." },
  invalid_json: { status: 400, title: "The body is not valid JSON. Send one JSON value." },
  number_too_large: {
    status: 400,
    title: "A number in the body is too large. Send finite numbers.",
  },
  json_too_deep: { status: 400, title: "The body nests too deeply. Send at most 64 levels." },
  duplicate_key: {
    status: 400,
    title: "The body holds a key twice in one object. Send the key at the pointer once.",
  },
  forbidden_key: {
    status: 400,
    title: "The body holds a forbidden key. Remove the key at the pointer.",
  },
  invalid_request: {
    status: 422,
    title: "The body does not have the expected shape. Change what the errors name.",
  },
  tool_call_id_too_long: {
    status: 422,
    title: "A tool call id is longer than 128 characters. Use a shorter id.",
  },
  tool_args_too_large: {
    status: 422,
    title: "Tool call arguments exceed 8 KB. Send smaller arguments.",
  },
  tool_result_too_large: {
    status: 422,
    title: "A tool result exceeds 32 KB. Send a smaller result.",
  },
  orphan_tool_result: {
    status: 422,
    title: "A tool result answers no open tool call. Send it after its tool call.",
  },
  unanswered_tool_call: {
    status: 422,
    title: "A tool call has no result. Send its result before the next message.",
  },
  duplicate_tool_call_id: {
    status: 422,
    title: "A tool call id is used twice. Give each tool call its own id.",
  },
  misplaced_message: {
    status: 422,
    title: "A message has the wrong place in the conversation. See POST /v1/chat in docs/http.md.",
  },
  model_not_allowed: {
    status: 422,
    title: "This deployment does not offer the model. Use one that the detail names.",
  },
  workspace_not_available: {
    status: 422,
    title: "The embed token binds another workspace. Leave the workspace out.",
  },
  workspace_not_found: {
    status: 404,
    title:
      "There is no such workspace, or the caller is no member of it. Ask who keeps the policy.",
  },
  connection_not_available: {
    status: 422,
    title: "A connection is not available to this caller.",
  },
  tool_not_available: {
    status: 422,
    title: "A requested tool is not available. Use tools that GET /v1/tools lists.",
  },
  tool_not_found: { status: 404, title: "There is no such tool. GET /v1/tools lists the tools." },
  file_invalid: {
    status: 422,
    title: "A file is not accepted. The error at its pointer says why.",
  },
  files_too_large: { status: 422, title: "The files are too large. Send fewer or smaller ones." },
  file_not_taken: { status: 422, title: "The model cannot take a file. Use another model." },
  conversation_too_long: { status: 422, title: "The conversation is too long. Start a new one." },
  storage_exhausted: {
    status: 429,
    title: "Too much was stored in this window. Try again later, or raise tenantBudgets.",
  },
  connection_id_invalid: {
    status: 400,
    title: "The connection id is not valid. Use 1 to 64 of A-Z a-z 0-9 _ -",
  },
  provider_id_invalid: {
    status: 400,
    title: "The provider id is not valid. Use 1 to 64 of A-Z a-z 0-9 _ -",
  },
  provider_not_found: {
    status: 404,
    title: "There is no such provider. GET /v1/providers lists the providers.",
  },
  provider_unreadable: {
    status: 503,
    title: "The key of the provider cannot be opened. Try again, then store the provider again.",
  },
  too_many_providers: {
    status: 422,
    title: "The tenant has as many providers as it may have. Delete one first.",
  },
  request_key_invalid: {
    status: 400,
    title: "The Idempotency-Key is not valid. Send 1 to 255 printable ASCII characters.",
  },
  request_key_missing: {
    status: 400,
    title: "A call of this tool changes something. Send an Idempotency-Key with it.",
  },
  request_in_progress: {
    status: 409,
    title: "A request with this Idempotency-Key is in progress. Follow its run or try again later.",
  },
  request_key_reused: {
    status: 422,
    title: "This Idempotency-Key belongs to another request. Use a new key.",
  },
  query_invalid: {
    status: 400,
    title: "A query parameter is not valid. Change what the detail names.",
  },
  wire_unknown: {
    status: 400,
    title: "No client wire has this name. Use one of those that the detail names.",
  },
  cursor_invalid: {
    status: 400,
    title: "The cursor does not belong to this list. Start again without a cursor.",
  },
  audit_unavailable: {
    status: 503,
    title: "The audit log could not be written. Send the request again.",
  },
  run_not_found: {
    status: 404,
    title: "There is no such run. Check the id and the tenant of the token.",
  },
  run_expired: { status: 410, title: "The run ended and is no longer stored. Start a new run." },
  invocation_not_found: {
    status: 404,
    title: "There is no such invocation. GET /v1/runs/:id lists the invocations that wait.",
  },
  image_not_found: {
    status: 404,
    title: "There is no such image. The call's content in the run's events lists its images.",
  },
  outcome_not_awaited: {
    status: 409,
    title: "This invocation has no unknown outcome and no mismatch. There is nothing to report.",
  },
  undo_not_possible: {
    status: 409,
    title: "This call cannot be undone. GET /v1/runs/:id says which calls can.",
  },
  undo_not_allowed: {
    status: 403,
    title: "The caller may not use the tool that undoes this call. Ask an administrator.",
  },
  undo_by_another: {
    status: 409,
    title: "Somebody else undoes this call, or did. GET /v1/runs/:id says how it stands.",
  },
  approval_not_found: {
    status: 404,
    title: "There is no such approval. GET /v1/approvals lists the approvals.",
  },
  approval_closed: {
    status: 409,
    title: "The approval is closed. Read its status in the member approval.",
  },
  approver_not_allowed: {
    status: 403,
    title: "The caller may not decide this approval. The member reason says why.",
  },
  arguments_refused: {
    status: 422,
    title: "The edited arguments are refused. The detail says by whom, and the errors say why.",
  },
  run_still_running: {
    status: 409,
    title: "The run has not ended yet. Try again after the time in Retry-After.",
  },
  run_ended: {
    status: 409,
    title: "The run has ended and takes no more messages. Continue it with previousRunId.",
  },
  too_many_messages: {
    status: 429,
    title: "Too many messages wait for the next step of the run. Try again later.",
  },
  event_id_invalid: {
    status: 400,
    title: "The Last-Event-ID is not an event id. Send an id from the stream, <epoch>-<sequence>.",
  },
  event_id_unknown: {
    status: 409,
    title: "The run has not reached this event. Send the id of an event that was received.",
  },
  approval_too_weak: {
    status: 422,
    title: "An approval rule is too weak for a critical mutation. Change what the errors name.",
  },
  policy_missing: {
    status: 404,
    title: "The tenant has no policy yet. Store one with PUT /v1/policy.",
  },
  policy_unavailable: {
    status: 503,
    title: "The policy cannot be read or stored. The detail says what to do.",
  },
  assistant_not_found: {
    status: 404,
    title: "There is no such assistant. Check its id and the tenant of the token.",
  },
  assistant_id_invalid: {
    status: 400,
    title: "The assistant id is not valid. Use 1 to 64 of A-Z a-z 0-9 _ -",
  },
  assistant_unusable: {
    status: 422,
    title: "The assistant does not fit this deployment any more. Tell the operator what to change.",
  },
  assistant_unavailable: {
    status: 503,
    title: "The assistant cannot be read at the moment. Send the request again.",
  },
  too_many_assistants: {
    status: 422,
    title: "The tenant has 256 assistants. Remove one that nobody uses.",
  },
  precondition_invalid: {
    status: 400,
    title: "The precondition is not valid. The detail names both forms.",
  },
  precondition_failed: {
    status: 412,
    title: "The document has another revision than expected. Read it again and repeat the change.",
  },
  precondition_required: {
    status: 428,
    title: "The request must name the revision that it replaces. The detail names both forms.",
  },
  too_many_readers: {
    status: 429,
    title: "Too many readers follow this. Close some, or try again later.",
  },
  storage_too_new: {
    status: 503,
    title: "A newer version of Interlock wrote this record. Try again after the deploy.",
  },
  storage_too_old: {
    status: 503,
    title: "This version of Interlock cannot read records of the version that wrote this one.",
  },
  internal_error: {
    status: 500,
    title: "Interlock failed. Try again; if it fails again, tell the operator the errorId.",
  },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
