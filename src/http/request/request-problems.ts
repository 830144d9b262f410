/** Refusals that any route may answer: the address, the caller, the body, conditions, storage. */
export const REQUEST_PROBLEMS = {
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
  request_key_invalid: {
    status: 400,
    title: "The Idempotency-Key is not valid. Send 1 to 255 printable ASCII characters.",
  },
  request_key_missing: {
    status: 400,
    title: "A call of this tool changes something. Send an Idempotency-Key with it.",
  },
  request_key_reused: {
    status: 422,
    title: "This Idempotency-Key belongs to another request. Use a new key.",
  },
  query_invalid: {
    status: 400,
    title: "A query parameter is not valid. Change what the detail names.",
  },
  cursor_invalid: {
    status: 400,
    title: "The cursor does not belong to this list. Start again without a cursor.",
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
