import type { BoundToolRuntime, RunCapabilities, ToolSourcePort } from "../capabilities/tool.ts";
import { bindTool } from "./bind-tool.ts";
import { versionKey, type RegisteredContract } from "./registered.ts";

/** Binds a set of contracts that was registered to one runtime's capabilities (seeds/000 #24, #34). */
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
