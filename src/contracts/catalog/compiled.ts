import type { Result } from "../../protocol/outcome/result.ts";
import type { AnyToolContract } from "../define/definition.ts";
import { ContractError } from "../define/contract-error.ts";
import { joinSchemas, type DerivedSchemas, type RegisteredContract } from "./registered.ts";
import { stampOf } from "./stamp.ts";

/** What the build stores of one registered contract: everything that the contract does not hold. */
export interface CompiledContract extends DerivedSchemas {
  readonly name: string;
  readonly version: string;
  /** Changes with the contract, but for what its functions do. */
  readonly stamp: number;
}

/**
 * Result of the build: the contracts in the order of their list, or why one cannot be registered.
 */
export type CompiledContracts = Result<readonly CompiledContract[], string>;

/**
 * Takes the derived schemas, so that a deployment does not derive or check anything at its start.
 */
export function compileContracts(registered: readonly RegisteredContract[]): CompiledContracts {
  const value = registered.map(({ contract, spec, outputSchema, ...facts }) => {
    const { name, version, inputSchema } = spec;
    return {
      name,
      version,
      stamp: stampOf(contract),
      inputSchema,
      outputSchema,
      ...(facts.formSchema && { formSchema: facts.formSchema }),
      ...(facts.detailsSchema && { detailsSchema: facts.detailsSchema }),
      ...(facts.isOutputTextFree && { isOutputTextFree: true as const }),
      ...(facts.discloses && { discloses: true as const }),
    };
  });
  return { ok: true, value };
}

/**
 * Joins contracts to the schemas that the build stored for them.
 * Fails: throws the reason why the build refused; ContractError when the build saw other contracts
 * or another order.
 */
export function readCompiled(
  contracts: readonly AnyToolContract[],
  compiled: unknown,
): readonly RegisteredContract[] {
  if (!isCompiled(compiled)) throw new Error(`contracts: ${STALE}`);
  if (!compiled.ok) throw new Error(compiled.failure);
  const stray = compiled.value[contracts.length];
  if (stray) throw new ContractError(stray.name, STALE);
  return contracts.map((contract, index) => {
    const kept = compiled.value[index];
    const isSame = kept?.name === contract.name && kept.version === contract.version;
    if (!isSame || kept.stamp !== stampOf(contract)) throw new ContractError(contract.name, STALE);
    return joinSchemas(contract, kept);
  });
}

const STALE = "the compiled contracts do not match the code; run npx interlock build";

function isCompiled(compiled: unknown): compiled is CompiledContracts {
  if (typeof compiled !== "object" || compiled === null || !("ok" in compiled)) return false;
  return compiled.ok === false || ("value" in compiled && Array.isArray(compiled.value));
}
