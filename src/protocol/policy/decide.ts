import {
  isEnoughForCritical,
  PATTERN_DEFAULTS,
  type ApprovalRequirement,
} from "../approval/requirement.ts";
import type { SideEffectClass, ToolEffect } from "../tool/effect.ts";
import type { AllowedTool, ApprovalRule, ToolPolicy } from "./document.ts";

/** What a policy says of one tool. */
export type PolicyDecision = "allow" | "deny" | "require_approval";

/** What a policy decision depends on. */
export interface DecidedTool {
  readonly id: string;
  readonly version: string;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** The contract itself requires an approval. */
  readonly confirmationRequired: boolean;
}

/**
 * Decides whether a tool may run. The catalog uses it, and each execution uses it again. A critical
 * mutation is denied when its approval rule is too weak: such a rule was stored before the API
 * refused it, or before the tool was critical.
 * Contract: pure.
 */
export function decide(policy: ToolPolicy, tool: DecidedTool): PolicyDecision {
  const entry = entryOf(policy, tool.id);
  if (!entry || !allowsVersion(entry, tool.version)) return "deny";
  if (findWeakRule(policy, tool) !== undefined) return "deny";
  const needsApproval =
    tool.confirmationRequired ||
    policy.requireApprovalForEffects.includes(tool.effect) ||
    policy.requireApprovalForClasses.includes(tool.sideEffectClass) ||
    policy.approvals.some((rule) => namesTools(rule) && fits(rule, tool));
  return needsApproval ? "require_approval" : "allow";
}

/** Tells which approval a call of a tool needs; undefined when it needs none. Contract: pure. */
export function requirementOf(
  policy: ToolPolicy,
  tool: DecidedTool,
): ApprovalRequirement | undefined {
  if (decide(policy, tool) !== "require_approval") return undefined;
  const rule = policy.approvals.find((candidate) => fits(candidate, tool));
  return rule
    ? requirementUnder(rule)
    : PATTERN_DEFAULTS[isCritical(tool) ? "dual_control" : "user_consent"];
}

function requirementUnder(rule: ApprovalRule): ApprovalRequirement {
  const { pattern, required, roles, excludeRequester, ttlSeconds } = rule;
  return {
    ...PATTERN_DEFAULTS[pattern],
    ...(required !== undefined && { required }),
    ...(roles && { roles }),
    ...(excludeRequester !== undefined && { excludesRequester: excludeRequester }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  };
}

/**
 * Finds the rule that says how a critical mutation is approved and is too weak for it; undefined
 * when there is none.
 */
export function findWeakRule(
  { approvals }: Pick<ToolPolicy, "approvals">,
  tool: Pick<DecidedTool, "id" | "sideEffectClass">,
): ApprovalRule | undefined {
  if (!isCritical(tool)) return undefined;
  const rule = approvals.find((candidate) => fits(candidate, tool));
  return rule && !isEnoughForCritical(requirementUnder(rule)) ? rule : undefined;
}

/** Finds a tool's entry in the allowlist. */
export function entryOf(
  policy: Pick<ToolPolicy, "allowedTools">,
  toolId: string,
): AllowedTool | undefined {
  return policy.allowedTools.find(({ id }) => id === toolId);
}

function allowsVersion({ versions, canary }: AllowedTool, version: string): boolean {
  return versions === undefined || versions.includes(version) || canary?.version === version;
}

/**
 * A rule that names tools or classes requires approval. Any other rule only says how to approve.
 */
function namesTools({ tools, classes }: ApprovalRule): boolean {
  return tools !== undefined || classes !== undefined;
}

/**
 * A rule for every tool does not speak of critical mutations when its pattern is never enough for
 * them.
 */
function fits(rule: ApprovalRule, tool: Pick<DecidedTool, "id" | "sideEffectClass">): boolean {
  const { tools, classes, pattern } = rule;
  if (isCritical(tool) && !namesTools(rule)) return isEnoughForCritical(PATTERN_DEFAULTS[pattern]);
  return (tools?.includes(tool.id) ?? true) && (classes?.includes(tool.sideEffectClass) ?? true);
}

function isCritical({ sideEffectClass }: Pick<DecidedTool, "sideEffectClass">): boolean {
  return sideEffectClass === "CRITICAL_MUTATION";
}
