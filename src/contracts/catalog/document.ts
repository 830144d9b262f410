import type { JsonObject } from "../../protocol/json/value.ts";
import { TAXONOMY_CLASSES, type FailureClass } from "../../protocol/outcome/taxonomy.ts";
import type { ToolContractDocument } from "../../protocol/tool/contract-document.ts";
import type { RegisteredContract } from "./registered.ts";
import { FAILURES, type FailureCode } from "../../protocol/outcome/failures.ts";
import {
  mayHaveChanged,
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

/** Codes of edits, which end no call, and of sagas and undo. */
const OF_SOME_CALLS: ReadonlySet<string> = new Set([
  "no_answer_given",
  "no_question",
  "raise_without_arguments",
  "undoes",
  "withheld_field",
  "compensation_failed",
  "not_undone",
  "step_failed",
] satisfies FailureCode[]);

/** Classes with which the runtime ends calls of any tool, whatever the tool returns. */
const RUNTIME_CLASSES: ReadonlySet<FailureClass> = new Set(
  Object.entries(FAILURES).flatMap(([code, [taxonomyClass]]) =>
    taxonomyClass === null || OF_SOME_CALLS.has(code) ? [] : [taxonomyClass],
  ),
);

/**
 * Sorts the classes that a call can end with by what the runtime does. It is asked here with the
 * functions that decide it (seeds/004, "Tool Error Taxonomy").
 */
function errorContractOf(contract: AnyToolContract): ToolContractDocument["error_contract"] {
  const possible = new Set<string>([
    ...RUNTIME_CLASSES,
    // Arguments that do not fit the schema; see classify-issues.ts.
    "TYPE_MISMATCH",
    ...(contract.rules.length > 0 ? ["SEMANTIC_INVALIDITY"] : []),
    // A step of a saga that fails, and an undo that fails.
    ...(contract.effect === "read_only" ? [] : ["COMPENSATION_FAILED"]),
    ...Object.values(contract.errors),
  ]);
  // The lists describe a call after its dispatch, because then the tool's effect matters.
  const state: DispatchState = {
    dispatched: true,
    mutates: contract.effect !== "read_only",
    isIdempotent: contract.idempotency.supported,
    repairEnded: false,
  };
  const thatAre = (
    suits: (vector: ResponseVector, isUnknown: boolean) => boolean,
  ): readonly FailureClass[] =>
    TAXONOMY_CLASSES.filter(
      (taxonomyClass): taxonomyClass is FailureClass =>
        possible.has(taxonomyClass) &&
        suits(respond(taxonomyClass, state), mayHaveChanged(taxonomyClass, state)),
    );
  return {
    repairable_errors: thatAre(({ repairable }) => repairable),
    retryable_errors: thatAre(({ retryable }) => retryable),
    // A write that may have happened waits for its contract or an operator to say so.
    fail_closed_errors: thatAre(({ fail_closed }, isUnknown) => fail_closed || isUnknown),
    escalation_errors: thatAre(
      ({ escalate, requires_approval }, isUnknown) => escalate || requires_approval || isUnknown,
    ),
  };
}
