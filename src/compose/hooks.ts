import type { ToolHook } from "../capabilities/tool.ts";

/** This deployment's own say over every tool call, in the order they are asked; see docs/gates.md. */
export const TOOL_HOOKS: readonly ToolHook[] = [];
