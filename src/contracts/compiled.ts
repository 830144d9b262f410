import type { Result } from "../protocol/outcome/result.ts";
import { ContractError } from "./error.ts";
import { joinSchemas, type DerivedSchemas, type RegisteredContract } from "./registered.ts";
import type { AnyToolContract } from "./definition.ts";

/** What the build stores of one registered contract: everything that the contract does not hold. */
export interface CompiledContract extends DerivedSchemas {
  readonly name: string;
  readonly version: string;
}

/**
 * Result of the build: the contracts in the order of their list, or why one cannot be registered.
 */
export type CompiledContracts = Result<readonly CompiledContract[], string>;

/**
 * Takes the derived schemas, so that a deployment does not derive or check anything at its start.
 */
export function compileContracts(
  registered: readonly RegisteredContract[],
): readonly CompiledContract[] {
  return registered.map(({ spec, outputSchema }) => {
    const { name, version, inputSchema } = spec;
    return { name, version, inputSchema, outputSchema };
  });
}

/**
 * Joins contracts to the schemas that the build stored for them.
 * Contract: both lists have the same tools and versions, in the same order.
 * Fails: throws the reason why the build refused; ContractError when the lists differ.
 */
export function readCompiled(
  contracts: readonly AnyToolContract[],
  compiled: CompiledContracts,
): readonly RegisteredContract[] {
  if (!compiled.ok) throw new Error(compiled.failure);
  const stray = compiled.value[contracts.length];
  if (stray) throw new ContractError(stray.name, STALE);
  return contracts.map((contract, index) => {
    const kept = compiled.value[index];
    if (kept?.name !== contract.name || kept.version !== contract.version) {
      throw new ContractError(contract.name, STALE);
    }
    return joinSchemas(contract, kept);
  });
}

const STALE = "the compiled contracts do not match the code; run npm run build";
