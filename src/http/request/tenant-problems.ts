/** Refusals about what a tenant keeps: policy, assistants, connections, providers, workspaces. */
export const TENANT_PROBLEMS = {
  erasure_not_found: {
    status: 404,
    title: "Nobody asked to erase this person. POST to this address begins it.",
  },
  consent_not_found: {
    status: 404,
    title: "There is no such consent, or its time is over. GET /v1/consents lists your own.",
  },
  workspace_not_found: {
    status: 404,
    title:
      "There is no such workspace, or the caller is no member of it. Ask who keeps the policy.",
  },
  tool_not_found: { status: 404, title: "There is no such tool. GET /v1/tools lists the tools." },
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
  audit_unavailable: {
    status: 503,
    title: "The audit log could not be written. Send the request again.",
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
  tools_unavailable: {
    status: 503,
    title: "The tools cannot be read. Try again later.",
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
} as const;
