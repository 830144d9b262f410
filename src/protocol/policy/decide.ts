import { PATTERN_DEFAULTS, type ApprovalRequirement } from "../approval/requirement.ts";
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
 * Decides whether a tool may run. The catalog uses it, and each execution uses it again.
 * Contract: pure.
 */
export function decide(policy: ToolPolicy, tool: DecidedTool): PolicyDecision {
  const entry = entryOf(policy, tool.id);
  if (!entry || !allowsVersion(entry, tool.version)) return "deny";
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
  if (!rule) {
    const isCritical = tool.sideEffectClass === "CRITICAL_MUTATION";
    return PATTERN_DEFAULTS[isCritical ? "dual_control" : "user_consent"];
  }
  const { pattern, required, roles, excludeRequester, ttlSeconds } = rule;
  const defaults = PATTERN_DEFAULTS[pattern];
  return {
    ...defaults,
    ...(required !== undefined && { required }),
    ...(roles && { roles }),
    ...(excludeRequester !== undefined && { excludesRequester: excludeRequester }),
    ...(ttlSeconds !== undefined && { ttlSeconds }),
  };
}

/** Finds a tool's entry in the allowlist. */
export function entryOf(policy: ToolPolicy, toolId: string): AllowedTool | undefined {
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

/** The consent of one person is never enough for a critical mutation: nobody can undo it. */
function fits({ tools, classes, pattern }: ApprovalRule, tool: DecidedTool): boolean {
  const isEnough = pattern !== "user_consent" || tool.sideEffectClass !== "CRITICAL_MUTATION";
  return (
    isEnough &&
    (tools?.includes(tool.id) ?? true) &&
    (classes?.includes(tool.sideEffectClass) ?? true)
  );
}
