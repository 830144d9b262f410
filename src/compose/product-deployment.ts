import { COMPILED } from "../../dist/compiled-contracts.js";
import { readCompiled, type CompiledContracts } from "../contracts/compiled.ts";
import { createDeployment, type Deployment } from "./deployment.ts";
import { TOOL_CONTRACTS } from "./tools.ts";

let deployment: Deployment | undefined;

/**
 * Assembles the product with the contracts that the build compiled, once per isolate; see
 * scripts/compile-contracts.ts.
 * Fails: throws as readCompiled does. Then the Worker answers no request and no run starts.
 */
export function productDeployment(): Deployment {
  deployment ??= createDeployment(readCompiled(TOOL_CONTRACTS, COMPILED as CompiledContracts));
  return deployment;
}
