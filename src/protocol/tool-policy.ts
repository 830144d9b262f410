import * as v from "valibot";
import { TOOL_EFFECTS, type ToolEffect } from "./tool-effect.ts";

const toolPolicyDocument = v.strictObject({
  /** Tool ids that may run; everything else is denied. */
  allowedTools: v.pipe(v.array(v.pipe(v.string(), v.maxLength(64))), v.maxLength(1024)),
  /** Effects that a person must approve first; until approvals exist that means denied. */
  requireApprovalForEffects: v.optional(v.array(v.picklist(TOOL_EFFECTS)), []),
  budgets: v.optional(
    v.strictObject({
      maxRuntimeMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      maxResultBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      maxSteps: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))),
    }),
    {},
  ),
});

/** The tenant's policy, as data (seeds/000 #19). */
export type ToolPolicy = v.InferOutput<typeof toolPolicyDocument>;

export type ToolPolicyDecision = "allow" | "deny" | "require_approval";

/** What governs a tenant without a readable policy: nothing is allowed (seeds/000 #20). */
export const DENY_ALL: ToolPolicy = {
  allowedTools: [],
  requireApprovalForEffects: [],
  budgets: {},
};

/** Reads a policy document; undefined when it is not exactly one. */
export function parseToolPolicy(document: unknown): ToolPolicy | undefined {
  const parsed = v.safeParse(toolPolicyDocument, document);
  return parsed.success ? parsed.output : undefined;
}

/** Decides whether a tool may run. Used for the catalog and again at execution. */
export function decide(policy: ToolPolicy, toolId: string, effect: ToolEffect): ToolPolicyDecision {
  if (!policy.allowedTools.includes(toolId)) return "deny";
  return policy.requireApprovalForEffects.includes(effect) ? "require_approval" : "allow";
}

/** Restricts a policy to the tools a request names; it never widens it. */
export function narrowPolicy(
  policy: ToolPolicy,
  toolIds: readonly string[] | undefined,
): ToolPolicy {
  if (toolIds === undefined) return policy;
  return {
    ...policy,
    allowedTools: policy.allowedTools.filter((toolId) => toolIds.includes(toolId)),
  };
}
