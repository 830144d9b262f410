import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import type { PinnedPolicy } from "../budget/reserve-of-tenant.ts";
import { failCall } from "../tool-failure.ts";

/**
 * Reads the policy that is current now from the one who owns it.
 * Contract: never throws. Fails: POLICY_VIOLATION where there is none; DEPENDENCY_UNAVAILABLE.
 */
export async function readCurrentPolicy({
  ports,
}: ActiveCall): Promise<Result<PinnedPolicy, ToolFailure>> {
  const { registry, policies, principal, pin: pinned, policy } = ports;
  const { tenantId } = principal;
  let current: PolicyPin | undefined;
  try {
    current = await registry.current(tenantId);
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

const UNREACHABLE = failCall("DEPENDENCY_UNAVAILABLE", {
  code: "policy_unavailable",
  message: "nobody can tell which policy is current",
});
const NO_POLICY = failCall("POLICY_VIOLATION", {
  code: "no_policy",
  message: "there is no policy that allows this",
});
