import { IMPLIED_LIMITS, type RunLimits, type ToolPolicy } from "./document.ts";

/**
 * Restricts a policy to further limits of a run; it never widens it.
 * Contract: pure; a limit that the policy has none of, not even an implied one, is taken as it is.
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
  return { ...policy, budgets: lowered };
}
