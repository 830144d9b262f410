import { hasCode } from "../define/author-code.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { TAXONOMY_CLASSES, type FailureClass } from "../../protocol/outcome/taxonomy.ts";
import type { ToolContractDocument } from "../../protocol/tool/contract-document.ts";
import type { RegisteredContract } from "./registered.ts";
import {
  respond,
  type DispatchState,
  type ResponseVector,
} from "../../protocol/outcome/response-vector.ts";
import { sorted } from "../../protocol/text/sorted.ts";
import type { AnyToolContract } from "../define/definition.ts";

/**
 * Writes a contract in the closed shape of seeds/004. Sorts the lists whose order has no meaning.
 */
export function toContractDocument(registered: RegisteredContract): ToolContractDocument {
  const { contract } = registered;
  const { transactional, idempotency, observability } = contract;
  return {
    identity: identityOf(contract),
    affordance: affordanceOf(registered),
    runtime: runtimeOf(contract),
    security: securityOf(contract),
    transactional: {
      side_effect_class: contract.sideEffectClass,
      confirmation_required: transactional.confirmationRequired,
      semantics: transactional.semantics,
      compensation_tool: transactional.compensationTool,
      post_action_verification_required: transactional.verificationRequired,
    },
    idempotency: {
      supported: idempotency.supported,
      required: idempotency.required,
      key_header: idempotency.keyHeader,
      ttl_seconds: idempotency.ttlSeconds,
      // The runtime binds every key to its arguments, and audits every call.
      payload_hash_required: true,
    },
    observability: {
      trace_attributes: sorted(observability.traceAttributes),
      audit_required: true,
      error_taxonomy_mapping: contract.errors,
    },
    error_contract: errorContractOf(contract),
  };
}

function identityOf(contract: AnyToolContract): ToolContractDocument["identity"] {
  const { name, version, owner, lifecycle } = contract;
  const { status, sunsetDate, replacement } = lifecycle;
  return { name, version, owner, lifecycle: { status, sunset_date: sunsetDate, replacement } };
}

function affordanceOf({
  contract,
  spec,
  outputSchema,
}: RegisteredContract): ToolContractDocument["affordance"] {
  return {
    model_description: contract.description,
    allowed_use_cases: contract.allowedUseCases,
    forbidden_use_cases: contract.forbiddenUseCases,
    input_schema: spec.inputSchema,
    output_schema: outputSchema,
    examples: contract.examples.map(({ description, arguments: args }) => ({
      description,
      arguments: args as JsonObject,
    })),
  };
}

function runtimeOf({ runtime }: AnyToolContract): ToolContractDocument["runtime"] {
  const { rateLimit, cost } = runtime;
  return {
    timeout_ms: runtime.timeoutMs,
    rate_limits: { window_sec: rateLimit.windowSeconds, max_requests: rateLimit.maxRequests },
    cost_profile: {
      currency: cost.currency,
      cost_per_call: cost.perCall,
      cost_unit: cost.unit,
    },
    sandbox_isolated: runtime.sandboxIsolated,
    max_retries: runtime.maxRetries,
  };
}

function securityOf({ security }: AnyToolContract): ToolContractDocument["security"] {
  return {
    required_scopes: sorted(security.requiredScopes),
    tenant_scoped: security.tenantScoped,
    secrets_boundary: security.secretsBoundary,
    data_classification: security.dataClassification,
    egress_policy: security.egressPolicy,
  };
}

/** Classes with which the gates can end a call of any tool. */
const GATE_CLASSES: readonly FailureClass[] = [
  "SYNTACTIC_PARSE_FAIL",
  "STRUCTURAL_VIOLATION",
  "TYPE_MISMATCH",
  "OUT_OF_BOUNDS",
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "CONFIRMATION_MISSING",
  "BUDGET_EXHAUSTED",
  "RATE_LIMITED",
  "IDEMPOTENCY_CONFLICT",
  "SIGNATURE_MISMATCH",
  "TIMEOUT",
  "DEPENDENCY_UNAVAILABLE",
  "OBSERVATION_NORMALIZATION_FAIL",
  "UNKNOWN_ERROR",
];

/** Sorts the classes that a call can end with by what may follow. Each is in at least one list. */
function errorContractOf(contract: AnyToolContract): ToolContractDocument["error_contract"] {
  const possible = new Set<string>([
    ...GATE_CLASSES,
    ...(contract.rules.length > 0 ? ["SEMANTIC_INVALIDITY"] : []),
    ...(hasCode(contract, "checkState") ? ["STALE_STATE"] : []),
    ...Object.values(contract.errors),
  ]);
  // The lists describe a call after its dispatch, because then the tool's effect matters.
  const state: DispatchState = {
    dispatched: true,
    mutates: contract.effect !== "read_only",
    isIdempotent: contract.idempotency.supported,
    repairEnded: false,
  };
  const thatAre = (suits: (vector: ResponseVector) => boolean): readonly FailureClass[] =>
    TAXONOMY_CLASSES.filter(
      (taxonomyClass): taxonomyClass is FailureClass =>
        possible.has(taxonomyClass) && suits(respond(taxonomyClass, state)),
    );
  return {
    repairable_errors: thatAre(({ repairable }) => repairable),
    retryable_errors: thatAre(({ retryable }) => retryable),
    fail_closed_errors: thatAre(({ fail_closed }) => fail_closed),
    escalation_errors: thatAre((vector) => vector.escalate || vector.requires_approval),
  };
}
