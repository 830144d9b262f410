import type { BoundToolRuntime, RunCapabilities, ToolSourcePort } from "../../capabilities/tool.ts";
import { bindTool } from "./bind-tool.ts";
import { versionKey, type RegisteredContract } from "../catalog/registered.ts";

/**
 * Binds registered contracts to the capabilities of one run (seeds/000 #24, #34), each when it is
 * first asked for: a run uses few of a deployment's tools.
 */
export function createToolSource(
  contracts: readonly RegisteredContract[],
  capabilities: RunCapabilities,
): ToolSourcePort {
  const bound = new Map<string, BoundToolRuntime>();
  const bind = (toolId: string, version: string): BoundToolRuntime | undefined => {
    const registered = contracts.find(
      ({ spec }) => spec.name === toolId && spec.version === version,
    );
    return registered && bindTool(registered, capabilities);
  };
  return {
    getBoundTool(toolId, version) {
      const key = versionKey(toolId, version);
      const tool = bound.get(key) ?? bind(toolId, version);
      if (tool) bound.set(key, tool);
      return tool;
    },
    listToolSpecs: () => contracts.map(({ spec }) => spec),
  };
}
