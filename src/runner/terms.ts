import { failCall } from "../protocol/outcome/failures.ts";
import type { PolicyRegistry, PolicyStore } from "../capabilities/policy.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { Operation } from "../protocol/invocation/record.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { ok, type Result } from "../protocol/outcome/result.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";

/** A policy document with its revision: what a gate decides under. */
export interface Terms {
  readonly policy: ToolPolicy;
  /** Absent when the tenant has no policy; the document then allows nothing. */
  readonly pin: PolicyPin | undefined;
}

/** Terms that name their revision. */
export interface PinnedTerms extends Terms {
  readonly pin: PolicyPin;
}

/** What reading the current policy takes. */
export interface CurrentPolicyPorts {
  /** The terms that the run pinned. */
  readonly policy: ToolPolicy;
  readonly pin?: PolicyPin | undefined;
  readonly policies: Pick<PolicyStore, "learn" | "read">;
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly principal: Pick<Principal, "tenantId">;
}

/**
 * Reads the policy that is current now from the tenant's object, which owns it. `asker` is the call
 * that needs the policy; absent where no call does.
 * Contract: never throws. Fails: POLICY_VIOLATION when there is none; DEPENDENCY_UNAVAILABLE when
 * the tenant's object cannot be reached.
 */
export async function readCurrentPolicy(
  ports: CurrentPolicyPorts,
  asker?: Operation,
): Promise<Result<PinnedTerms, ToolFailure>> {
  const { registry, policies, principal, pin: pinned, policy } = ports;
  const { tenantId } = principal;
  let current: PolicyPin | undefined;
  try {
    current = await registry.current(tenantId, asker);
  } catch {
    return UNREACHABLE;
  }
  if (!current) return NO_POLICY;
  if (pinned?.revision === current.revision && pinned.hash === current.hash) {
    return ok({ policy, pin: pinned });
  }
  policies.learn(tenantId, current);
  const loaded = await policies.read(tenantId, current);
  return loaded.pin ? ok({ policy: loaded.policy, pin: loaded.pin }) : NO_POLICY;
}

const UNREACHABLE = failCall(
  "policy_unavailable",
  "the current policy cannot be read; try again later",
);

/** Refuses a call of a tenant that has no readable policy. */
export const NO_POLICY = failCall("no_policy");
