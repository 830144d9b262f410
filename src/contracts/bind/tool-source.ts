import type {
  BoundToolRuntime,
  BoundTools,
  RunCapabilities,
  ToolSourcePort,
} from "../../capabilities/tool.ts";
import { bindTool } from "./bind-tool.ts";
import { specsOf, versionKey, type RegisteredContract } from "../catalog/registered.ts";

/** Where the contracts of a deployment come from. */
export type ContractSource = ToolSourcePort<readonly RegisteredContract[]>;

/** Binds what a source of contracts gives to the capabilities of one run (seeds/000 #24, #34). */
export function createToolSource(
  source: ContractSource,
  capabilities: RunCapabilities,
): ToolSourcePort {
  return { load: async (tenantId) => bindTools(await source.load(tenantId), capabilities) };
}

/**
 * Binds registered contracts, each when it is first asked for: a run uses few of a deployment's
 * tools.
 */
export function bindTools(
  contracts: readonly RegisteredContract[],
  capabilities: RunCapabilities,
): BoundTools {
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
    listToolSpecs: () => specsOf(contracts),
  };
}
