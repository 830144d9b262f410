import type { Result } from "../protocol/outcome/result.ts";
import { ContractError } from "./error.ts";
import { joinSchemas, type DerivedSchemas, type RegisteredContract } from "./registered.ts";
import type { AnyToolContract } from "./definition.ts";

/** What the build keeps of one registered contract: all that cannot be read off the contract itself. */
export interface CompiledContract extends DerivedSchemas {
  readonly name: string;
  readonly version: string;
}

/** What the build found: the contracts in the order of their list, or in words why one may not register. */
export type CompiledContracts = Result<readonly CompiledContract[], string>;

/** Keeps what was derived, so that a deployment need neither derive nor check anything. */
export function compileContracts(
  registered: readonly RegisteredContract[],
): readonly CompiledContract[] {
  return registered.map(({ spec, outputSchema }) => {
    const { name, version, inputSchema } = spec;
    return { name, version, inputSchema, outputSchema };
  });
}

/**
 * Joins contracts to what the build kept of them.
 * Contract: one by one in the order of the list, nothing left over on either side.
 * Fails: throws what the build found, and ContractError for a list that is not the one it saw.
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

const STALE = "the compiled contracts are not those of the code; run npm run build";
