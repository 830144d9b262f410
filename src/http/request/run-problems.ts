/** Refusals of what starts a run, and of what concerns one run and its approvals. */
export const RUN_PROBLEMS = {
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
  connection_not_available: {
    status: 422,
    title: "A connection is not available to this caller.",
  },
  tool_not_available: {
    status: 422,
    title: "A requested tool is not available. Use tools that GET /v1/tools lists.",
  },
  file_invalid: {
    status: 422,
    title: "A file is not accepted. The error at its pointer says why.",
  },
  files_too_large: { status: 422, title: "The files are too large. Send fewer or smaller ones." },
  file_not_taken: { status: 422, title: "The model cannot take a file. Use another model." },
  conversation_too_long: { status: 422, title: "The conversation is too long. Start a new one." },
  conversation_not_found: {
    status: 404,
    title: "There is no such conversation. Check the id and the tenant of the token.",
  },
  turn_not_found: {
    status: 404,
    title: "The conversation has no such turn. GET /v1/runs lists the caller's runs.",
  },
  conversation_erased: { status: 410, title: "The conversation was deleted. Start a new one." },
  deletion_interrupted: {
    status: 503,
    title: "The deletion was interrupted. Send the request again; it goes on where it ended.",
  },
  conversation_busy: {
    status: 409,
    title:
      "Somebody still works on the conversation. Wait for the runs, or settle what they await.",
  },
  escalation_not_found: {
    status: 404,
    title: "There is no such escalation. GET /v1/escalations lists them.",
  },
  notification_not_found: {
    status: 404,
    title: "No such notification waits or is dead. GET /v1/notifications lists those that do.",
  },
  escalation_held: { status: 409, title: "Somebody else has taken the escalation." },
  escalation_needs_report: {
    status: 409,
    title: "A report or a decision about the call settles this escalation. Its address is in href.",
  },
  escalation_settled: { status: 409, title: "The escalation is settled already." },
  chat_id_reused: {
    status: 409,
    title: "This chat began with another message, or was deleted. Load it, or take another id.",
  },
  nothing_to_decide: {
    status: 422,
    title: "The newest message is an answer, and holds no decision of a waiting run.",
  },
  client_tools_not_allowed: {
    status: 422,
    title: "This deployment takes no tools of its clients. Send the request without tools.",
  },
  client_tool_invalid: {
    status: 422,
    title: "A tool of the request is not valid. The errors say which, and what is allowed.",
  },
  client_call_not_found: {
    status: 404,
    title: "No run of yours has returned this call to you. Send results of returned calls alone.",
  },
  client_results_missing: {
    status: 422,
    title: "The run returned more calls. Send the results of all of them in one request.",
  },
  client_call_answered: {
    status: 409,
    title: "The call has another result already. Send each result once.",
  },
  member_not_supported: {
    status: 422,
    title: "A member of the body asks for what Interlock does not do. Leave the member out.",
  },
  run_failed: {
    status: 502,
    title: "The run failed. The detail says why, and its calls that ended have ended.",
  },
  conversation_moved: {
    status: 409,
    title: "The conversation has a newer turn. Continue headId, or name parentId to branch.",
  },
  turn_lapsed: {
    status: 409,
    title: "The request took too long to start its run. Send it again.",
  },
  too_many_turns: {
    status: 422,
    title: "The conversation has as many turns as it may. Start a new one.",
  },
  storage_exhausted: {
    status: 429,
    title: "Too much was stored in this window. Try again later, or raise tenantBudgets.",
  },
  request_in_progress: {
    status: 409,
    title: "A request with this Idempotency-Key is in progress. Follow its run or try again later.",
  },
  wire_unknown: {
    status: 400,
    title: "No client wire has this name. Use one of those that the detail names.",
  },
  run_not_found: {
    status: 404,
    title: "There is no such run. Check the id and the tenant of the token.",
  },
  run_expired: { status: 410, title: "The run ended and is no longer stored. Start a new run." },
  run_not_replayable: {
    status: 409,
    title: "This run cannot be decided again. The member reason says why.",
  },
  history_erased: {
    status: 410,
    title: "The earlier turns that the run read are deleted. It cannot be decided again.",
  },
  invocation_not_found: {
    status: 404,
    title: "There is no such invocation. GET /v1/runs/:id lists the invocations that wait.",
  },
  image_not_found: {
    status: 404,
    title: "There is no such image. The call's content in the run's events lists its images.",
  },
  result_not_kept: {
    status: 404,
    title: "Nothing more is kept of this call: its result was shown whole, or it is too old.",
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
  too_many_readers: {
    status: 429,
    title: "Too many readers follow this. Close some, or try again later.",
  },
} as const;
