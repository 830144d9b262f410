import {
  isEnoughForCritical,
  PATTERN_DEFAULTS,
  type ApprovalRequirement,
} from "../approval/requirement.ts";
import { mayLast } from "../consent/lasting.ts";
import type { SideEffectClass, ToolEffect } from "../tool/effect.ts";
import { requirementUnder, rulesFor, type ApprovalRule, type MovedMoney } from "./approval-rule.ts";
import type { AllowedTool, ToolPolicy } from "./document.ts";

/** What a policy decision about a tool depends on, before it is called. */
export interface DecidedTool {
  readonly id: string;
  readonly version: string;
  readonly sideEffectClass: SideEffectClass;
}

/** A call under decision. */
export interface DecidedCall {
  readonly tool: DecidedTool & {
    readonly effect: ToolEffect;
    /** The contract itself requires an approval. */
    readonly confirmationRequired: boolean;
    /** Present for a saga. */
    readonly saga?: unknown;
  };
  readonly moved: MovedMoney;
}

/**
 * Decides whether a tool may run. The catalog uses it, and each execution uses it again. A critical
 * mutation is denied when its approval rules are too weak: such a rule was stored before the API
 * refused it, or before the tool was critical.
 * Contract: pure.
 */
export function isAllowed(policy: ToolPolicy, tool: DecidedTool): boolean {
  const entry = entryOf(policy, tool.id);
  if (!entry || !allowsVersion(entry, tool.version)) return false;
  return findWeakRules(policy, tool).length === 0;
}

/**
 * Tells which approvals a call of an allowed tool needs; empty when it needs none. All of them must
 * be given, each by other people.
 * Contract: pure.
 */
export function requirementsOf(
  policy: ToolPolicy,
  { tool, moved }: DecidedCall,
): readonly ApprovalRequirement[] {
  if (!isAllowed(policy, tool)) return [];
  const { rules, isAsked } = rulesFor(policy.approvals, { ...tool, moved });
  const needsApproval =
    isAsked ||
    tool.confirmationRequired ||
    policy.requireApprovalForEffects.includes(tool.effect) ||
    policy.requireApprovalForClasses.includes(tool.sideEffectClass);
  if (!needsApproval) return [];
  if (rules.length > 0) {
    const asked = rules.map((rule) => requirementUnder(rule, moved));
    // Each call of a saga has steps of its own, which no earlier consent knew.
    return mayLast(tool.sideEffectClass) && !tool.saga ? asked : asked.map(forOneCall);
  }
  return [PATTERN_DEFAULTS[isCritical(tool) ? "dual_control" : "user_consent"]];
}

function forOneCall(requirement: ApprovalRequirement): ApprovalRequirement {
  const { lasting: _, ...once } = requirement;
  return once;
}

/**
 * Finds the rules that say how a critical mutation is approved, where none of those that apply
 * together is enough for it, for some amount of money; empty when there are none.
 */
export function findWeakRules(
  { approvals }: Pick<ToolPolicy, "approvals">,
  tool: Pick<DecidedTool, "id" | "sideEffectClass">,
): readonly ApprovalRule[] {
  if (!isCritical(tool)) return [];
  return amountsToTry(approvals).flatMap((moved) => {
    const { rules } = rulesFor(approvals, { ...tool, moved });
    const isEnough = rules.some((rule) => isEnoughForCritical(requirementUnder(rule, moved)));
    return isEnough ? [] : rules;
  });
}

/** One amount of each range for which other rules apply, and a call without an amount. */
function amountsToTry(rules: readonly ApprovalRule[]): readonly MovedMoney[] {
  const bounds = rules.flatMap(({ amount: { above = 0, upTo = 0 } = {} }) => [above, upTo]);
  return ["none", 0, ...bounds, ...bounds.map((bound) => bound + ONE_MILLIONTH)];
}

const ONE_MILLIONTH = 1e-6;

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

function isCritical({ sideEffectClass }: Pick<DecidedTool, "sideEffectClass">): boolean {
  return sideEffectClass === "CRITICAL_MUTATION";
}
