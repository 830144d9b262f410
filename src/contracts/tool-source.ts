import type { BoundToolRuntime, RunCapabilities, ToolSourcePort } from "../capabilities/tool.ts";
import { bindTool } from "./bind-tool.ts";
import { versionKey, type RegisteredContract } from "./registered.ts";

/** Binds registered contracts to the capabilities of one run (seeds/000 #24, #34). */
export function createToolSource(
  contracts: readonly RegisteredContract[],
  capabilities: RunCapabilities,
): ToolSourcePort {
  const specs = contracts.map(({ spec }) => spec);
  const tools = new Map<string, BoundToolRuntime>();
  for (const registered of contracts) {
    const { name, version } = registered.spec;
    tools.set(versionKey(name, version), bindTool(registered, capabilities));
  }
  return {
    getBoundTool: (toolId, version) => tools.get(versionKey(toolId, version)),
    listToolSpecs: () => specs,
  };
}
