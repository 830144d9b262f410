import { COMPILED } from "../../dist/compiled-contracts.js";
import { readCompiled, type CompiledContracts } from "../contracts/compiled.ts";
import type { RegisteredContract } from "../contracts/registered.ts";
import { TOOL_CONTRACTS } from "./tools.ts";

let deployed: readonly RegisteredContract[] | undefined;

/**
 * Reads the contracts of this deployment as the build compiled them; see
 * scripts/compile-contracts.ts.
 * Fails: throws as readCompiled does. Then the Worker answers no request and no run starts.
 */
export function deployedContracts(): readonly RegisteredContract[] {
  deployed ??= readCompiled(TOOL_CONTRACTS, COMPILED as CompiledContracts);
  return deployed;
}
