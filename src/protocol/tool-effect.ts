/** What a tool does to the world, for policy (seeds/000 #17). */
export const TOOL_EFFECTS = ["read_only", "state_change", "external_side_effect"] as const;
export type ToolEffect = (typeof TOOL_EFFECTS)[number];
