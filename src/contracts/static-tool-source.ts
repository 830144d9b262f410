import type {
  BoundToolRuntime,
  ToolCapabilities,
  ToolSourcePort,
} from "../capabilities/tool-source.ts";
import { bindTool, type AnyToolContract } from "./bind-tool.ts";
import { ContractError } from "./check-contract.ts";

/**
 * Binds a fixed set of contracts to one runtime's capabilities (seeds/000 #24, #34).
 * Fails: throws ContractError for an id used twice (seeds/000 #22) and for every contract that may
 * not be registered.
 */
export function createToolSource(
  contracts: readonly AnyToolContract[],
  capabilities: ToolCapabilities,
): ToolSourcePort {
  const tools = new Map<string, BoundToolRuntime>();
  for (const contract of contracts) {
    if (tools.has(contract.name)) {
      throw new ContractError(`Tool ${JSON.stringify(contract.name)}: the id is taken`);
    }
    tools.set(contract.name, bindTool(contract, capabilities));
  }
  return {
    getBoundTool: (toolId) => tools.get(toolId),
    listToolSpecs: () => [...tools.values()].map((tool) => tool.spec),
  };
}
