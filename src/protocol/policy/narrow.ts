import type { ToolPolicy } from "./document.ts";
import { IMPLIED_LIMITS, type RunLimits } from "./limits.ts";
import type { RunClaim } from "../run/claim.ts";

/** Restricts a tenant's policy to what the request of a run asked for. Contract: pure. */
export function policyOfRun(
  policy: ToolPolicy,
  { toolIds, budgets }: Pick<RunClaim, "toolIds" | "budgets">,
): ToolPolicy {
  return lowerBudgets(narrowPolicy(policy, toolIds), budgets);
}

/**
 * Restricts a policy to the tools that a request names. Contract: pure; it never widens a policy.
 */
export function narrowPolicy(
  policy: ToolPolicy,
  toolIds: readonly string[] | undefined,
): ToolPolicy {
  if (toolIds === undefined) return policy;
  return {
    ...policy,
    allowedTools: policy.allowedTools.filter(({ id }) => toolIds.includes(id)),
  };
}

/**
 * Restricts a policy to further limits of one run; of two limits the lower one counts.
 * Contract: pure; it never widens a policy. A limit that the policy has neither written nor implied
 * is taken as it is.
 */
export function lowerBudgets(policy: ToolPolicy, limits: RunLimits | undefined): ToolPolicy {
  if (limits === undefined) return policy;
  const implied: RunLimits = IMPLIED_LIMITS;
  const lowered: Record<string, number | undefined> = { ...policy.budgets };
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined) continue;
    const key = name as keyof RunLimits;
    lowered[name] = Math.min(policy.budgets[key] ?? implied[key] ?? Infinity, limit);
  }
  return { ...policy, budgets: lowered, ...lowerRaises(policy, limits) };
}

/** Threat: somebody raises what the token of a page limits. */
function lowerRaises(
  { budgetRaises }: ToolPolicy,
  limits: RunLimits,
): Pick<ToolPolicy, "budgetRaises"> {
  if (!budgetRaises) return {};
  const upTo: Record<string, number | undefined> = { ...budgetRaises.upTo };
  for (const [name, limit] of Object.entries(limits)) {
    const most = upTo[name];
    if (limit !== undefined && most !== undefined) upTo[name] = Math.min(most, limit);
  }
  return { budgetRaises: { ...budgetRaises, upTo } };
}
