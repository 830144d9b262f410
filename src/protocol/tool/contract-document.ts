import type { DataClassification } from "./data-class.ts";
import type { JsonObject } from "../json/value.ts";
import type { SideEffectClass } from "./effect.ts";
import type { FailureClass } from "../outcome/taxonomy.ts";
import type { LifecycleStatus } from "./lifecycle.ts";
import type { JsonSchema7 } from "./spec.ts";

export const SEMANTICS = [
  "read_only",
  "idempotent_write",
  "compensable_write",
  "saga_step",
  "irreversible_pivot",
  "retryable_post_pivot",
] as const;
export type Semantics = (typeof SEMANTICS)[number];

/** Tells whether another tool can undo a call of these semantics. */
export function isCompensable(semantics: Semantics): boolean {
  return semantics === "compensable_write" || semantics === "saga_step";
}

export const COST_UNITS = ["call", "token", "second", "transaction", "custom"] as const;
export type CostUnit = (typeof COST_UNITS)[number];

export const SECRETS_BOUNDARIES = ["gateway_injected", "execution_sandbox", "none"] as const;
export type SecretsBoundary = (typeof SECRETS_BOUNDARIES)[number];

export const EGRESS_POLICIES = [
  "none",
  "allowlisted_domains",
  "private_network_only",
  "unrestricted_with_approval",
] as const;
export type EgressPolicy = (typeof EGRESS_POLICIES)[number];

/**
 * A published contract: the closed shape and the field names of seeds/004, "Tool Contract Schema".
 * Interlock's own fields are published beside it, never inside.
 */
export type ToolContractDocument = {
  readonly identity: {
    readonly name: string;
    readonly version: string;
    readonly owner: string;
    readonly lifecycle: {
      readonly status: LifecycleStatus;
      /** ISO 8601 date. */
      readonly sunset_date: string | null;
      readonly replacement: string | null;
    };
  };
  readonly affordance: {
    readonly model_description: string;
    readonly allowed_use_cases: readonly string[];
    readonly forbidden_use_cases: readonly string[];
    readonly input_schema: JsonSchema7;
    readonly output_schema: JsonSchema7;
    readonly examples: readonly { readonly description: string; readonly arguments: JsonObject }[];
  };
  readonly runtime: {
    readonly timeout_ms: number;
    readonly rate_limits: { readonly window_sec: number; readonly max_requests: number };
    readonly cost_profile: {
      readonly currency: string;
      readonly cost_per_call: number;
      readonly cost_unit: CostUnit;
    };
    readonly sandbox_isolated: boolean;
    readonly max_retries: number;
  };
  readonly security: {
    readonly required_scopes: readonly string[];
    readonly tenant_scoped: boolean;
    readonly secrets_boundary: SecretsBoundary;
    readonly data_classification: DataClassification;
    readonly egress_policy: EgressPolicy;
  };
  readonly transactional: {
    readonly side_effect_class: SideEffectClass;
    readonly confirmation_required: boolean;
    readonly semantics: Semantics;
    readonly compensation_tool: string | null;
    readonly post_action_verification_required: boolean;
  };
  readonly idempotency: {
    readonly supported: boolean;
    readonly required: boolean;
    readonly key_header: string | null;
    readonly ttl_seconds: number | null;
    readonly payload_hash_required: boolean;
  };
  readonly observability: {
    readonly trace_attributes: readonly string[];
    readonly audit_required: boolean;
    readonly error_taxonomy_mapping: { readonly [code: string]: FailureClass };
  };
  readonly error_contract: {
    readonly repairable_errors: readonly FailureClass[];
    readonly retryable_errors: readonly FailureClass[];
    readonly fail_closed_errors: readonly FailureClass[];
    readonly escalation_errors: readonly FailureClass[];
  };
};
