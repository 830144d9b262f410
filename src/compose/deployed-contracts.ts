import { COMPILED } from "../../dist/compiled-contracts.js";
import { readCompiled, type CompiledContracts } from "../contracts/compiled.ts";
import type { RegisteredContract } from "../contracts/registered.ts";
import { TOOL_CONTRACTS } from "./tool-contracts.ts";

let deployed: readonly RegisteredContract[] | undefined;

/**
 * The contracts of this deployment as its build registered them; see scripts/compile-contracts.ts.
 * Fails: throws as readCompiled, so that no request is answered and no run starts.
 */
export function deployedContracts(): readonly RegisteredContract[] {
  deployed ??= readCompiled(TOOL_CONTRACTS, COMPILED as CompiledContracts);
  return deployed;
}
