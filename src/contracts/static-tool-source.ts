import type {
  BoundToolRuntime,
  RunCapabilities,
  ToolSourcePort,
} from "../capabilities/tool-source.ts";
import { bindTool } from "./bind-tool.ts";
import { ContractError } from "./check-contract.ts";
import type { AnyToolContract } from "./tool-contract.ts";

/**
 * Binds a fixed set of contracts to one runtime's capabilities (seeds/000 #24, #34).
 * Fails: throws ContractError for a version registered twice (seeds/000 #22) and for every contract that may
 * not be registered.
 */
export function createToolSource(
  contracts: readonly AnyToolContract[],
  capabilities: RunCapabilities,
): ToolSourcePort {
  const tools = new Map<string, BoundToolRuntime>();
  for (const contract of contracts) {
    const key = keyOf(contract.name, contract.version);
    if (tools.has(key)) {
      throw new ContractError(
        `Tool ${JSON.stringify(contract.name)}: version ${contract.version} is taken`,
      );
    }
    tools.set(key, bindTool(contract, capabilities));
  }
  return {
    getBoundTool: (toolId, version) => tools.get(keyOf(toolId, version)),
    listToolSpecs: () => [...tools.values()].map((tool) => tool.spec),
  };
}

function keyOf(toolId: string, version: string): string {
  return JSON.stringify([toolId, version]);
}
