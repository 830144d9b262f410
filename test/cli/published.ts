import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/json/value.ts";

const document: PublishedContract["contract"] = {
  identity: {
    name: "bank__transfer",
    version: "1.0.0",
    owner: "bank",
    lifecycle: { status: "active", sunset_date: null, replacement: null },
  },
  affordance: {
    model_description: "Moves money.",
    allowed_use_cases: ["moving money"],
    forbidden_use_cases: [],
    input_schema: {
      type: "object",
      properties: {
        amount: { type: "number" },
        target: { type: "object", properties: { iban: { type: "string" } } },
      },
      required: ["amount"],
      additionalProperties: false,
    },
    output_schema: {
      type: "object",
      properties: { receipt: { type: "string" } },
      required: ["receipt"],
      additionalProperties: false,
    },
    examples: [{ description: "one", arguments: { amount: 1 } }],
  },
  runtime: {
    timeout_ms: 10_000,
    rate_limits: { window_sec: 60, max_requests: 60 },
    cost_profile: { currency: "EUR", cost_per_call: 1, cost_unit: "call" },
    sandbox_isolated: false,
    max_retries: 2,
  },
  security: {
    required_scopes: ["bank:write"],
    tenant_scoped: true,
    secrets_boundary: "gateway_injected",
    data_classification: "confidential",
    egress_policy: "allowlisted_domains",
  },
  transactional: {
    side_effect_class: "HIGH_RISK_EXTERNAL",
    confirmation_required: true,
    semantics: "compensable_write",
    compensation_tool: "bank__refund",
    post_action_verification_required: true,
  },
  idempotency: {
    supported: true,
    required: true,
    key_header: "Idempotency-Key",
    ttl_seconds: 86_400,
    payload_hash_required: true,
  },
  observability: {
    trace_attributes: ["bank.id"],
    audit_required: true,
    error_taxonomy_mapping: { no_funds: "SEMANTIC_INVALIDITY", busy: "DEPENDENCY_UNAVAILABLE" },
  },
  error_contract: {
    repairable_errors: ["SEMANTIC_INVALIDITY"],
    retryable_errors: ["DEPENDENCY_UNAVAILABLE"],
    fail_closed_errors: ["PERMISSION_DENIED"],
    escalation_errors: ["COMPENSATION_FAILED"],
  },
};

/** A published contract that says something in every field. */
export const PUBLISHED: PublishedContract = {
  contract: document,
  interlock: {
    effect: "external_side_effect",
    redaction: { args: ["amount"], output: ["receipt"] },
    parallel: false,
    requires_connection: true,
    untrusted_output: true,
    amount_field: "/amount",
    capabilities: ["auth", "clock"],
    egress_hosts: ["bank.example"],
    upstreams: ["desk"],
    progress_stages: ["sending", "sent"],
    max_arguments_bytes: 8192,
    max_result_bytes: 32_768,
    rules: ["positive"],
    optional: ["describe"],
    schema_hash: `sha256:${"0".repeat(64)}`,
    contract_hash: `sha256:${"1".repeat(64)}`,
  },
};

/** The contract with another value at a pointer; undefined takes the field away. */
export function withValue(
  contract: PublishedContract,
  pointer: string,
  value: JsonValue | undefined,
): PublishedContract {
  const keys = pointer.split("/").slice(1);
  return replace(contract, keys, value) as unknown as PublishedContract;
}

function replace(
  object: JsonObject,
  [key = "", ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  const { [key]: old, ...others } = object;
  if (rest.length > 0) return { ...object, [key]: replace(old as JsonObject, rest, value) };
  return value === undefined ? others : { ...object, [key]: value };
}

/** The contract under another version, in another lifecycle state. */
export function versioned(
  version: string,
  status: PublishedContract["contract"]["identity"]["lifecycle"]["status"] = "active",
): PublishedContract {
  const renumbered = withValue(PUBLISHED, "/contract/identity/version", version);
  return withValue(renumbered, "/contract/identity/lifecycle/status", status);
}
