/** Effects of a tool, for policy (seeds/000 #17). */
export const TOOL_EFFECTS = ["read_only", "state_change", "external_side_effect"] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];

/** Side-effect classes, from least to most harm (seeds/004, "Side-Effect Classification Model"). */
export const SIDE_EFFECT_CLASSES = [
  "READ_ONLY",
  "EPHEMERAL_WRITE",
  "LOW_RISK_INTERNAL",
  "MEDIUM_RISK_WRITE",
  "HIGH_RISK_EXTERNAL",
  "CRITICAL_MUTATION",
] as const;
export type SideEffectClass = (typeof SIDE_EFFECT_CLASSES)[number];

const EFFECTS: { readonly [Class in SideEffectClass]: readonly ToolEffect[] } = {
  READ_ONLY: ["read_only"],
  EPHEMERAL_WRITE: ["state_change"],
  LOW_RISK_INTERNAL: ["state_change"],
  MEDIUM_RISK_WRITE: ["state_change", "external_side_effect"],
  HIGH_RISK_EXTERNAL: ["state_change", "external_side_effect"],
  CRITICAL_MUTATION: ["state_change", "external_side_effect"],
};

/**
 * Tells whether a contract may declare both. Registration refuses a pair that contradicts itself.
 */
export function isEffectOf(effect: ToolEffect, sideEffectClass: SideEffectClass): boolean {
  return EFFECTS[sideEffectClass].includes(effect);
}
