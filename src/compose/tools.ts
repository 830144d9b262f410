import type { ToolHook } from "../capabilities/tool.ts";
import type { AnyToolContract } from "../contracts/definition.ts";
import { CORE_TOOLS } from "../tools/core/pack.ts";

/** Lists every tool of this deployment, for the Worker and the runs alike (seeds/000 #24). */
export const TOOL_CONTRACTS: readonly AnyToolContract[] = [...CORE_TOOLS];

/**
 * Lists the hooks of this deployment. Every tool call passes them in this order; see docs/gates.md.
 */
export const TOOL_HOOKS: readonly ToolHook[] = [];
