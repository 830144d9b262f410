import type {
  BoundToolRuntime,
  RunCapabilities,
  ToolSourcePort,
} from "../capabilities/tool-source.ts";
import { bindTool } from "./bind-tool.ts";
import { registerContracts, versionKey } from "./register-contract.ts";
import type { AnyToolContract } from "./tool-contract.ts";

/**
 * Binds a fixed set of contracts to one runtime's capabilities (seeds/000 #24, #34).
 * Fails: throws ContractError for a set that may not be registered.
 */
export function createToolSource(
  contracts: readonly AnyToolContract[],
  capabilities: RunCapabilities,
): ToolSourcePort {
  const specs = registerContracts(contracts);
  const tools = new Map<string, BoundToolRuntime>();
  for (const contract of contracts) {
    const key = versionKey(contract.name, contract.version);
    tools.set(key, bindTool(contract, capabilities));
  }
  return {
    getBoundTool: (toolId, version) => tools.get(versionKey(toolId, version)),
    listToolSpecs: () => specs,
  };
}
