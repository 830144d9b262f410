import type { JsonSchema7 } from "../protocol/tool/spec.ts";
import { checkConsistency } from "./consistency.ts";
import { ContractError } from "./error.ts";
import { deriveSchema } from "./derive-schema.ts";
import { joinSchemas, versionKey, type RegisteredContract } from "./registered.ts";
import { checkShape } from "./shape.ts";
import type { AnyToolContract, ClosedObjectSchema } from "./definition.ts";

/**
 * Registers contracts. Checks each alone, and all as a set: a version is registered once
 * (seeds/000 #22), and every compensating tool exists.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function registerContracts(
  contracts: readonly AnyToolContract[],
): readonly RegisteredContract[] {
  const names = new Set(contracts.map(({ name }) => name));
  const versions = new Set<string>();
  return contracts.map((contract) => {
    const registered = registerContract(contract);
    const key = versionKey(contract.name, contract.version);
    if (versions.has(key)) {
      throw new ContractError(
        contract.name,
        `version ${contract.version} is taken; two contracts have it, so raise the version of one`,
      );
    }
    versions.add(key);
    const { compensationTool } = contract.transactional;
    if (compensationTool !== null && !names.has(compensationTool)) {
      throw new ContractError(
        contract.name,
        `compensationTool ${compensationTool} is not registered; add its contract to the list`,
      );
    }
    return registered;
  });
}

/**
 * Checks one whole contract and derives its schemas: deriving is registering (seeds/000 #14, #26a).
 * A deployment does this in its build; see compiled.ts.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function registerContract(contract: AnyToolContract): RegisteredContract {
  const reject = (reason: string, cause?: unknown): never => {
    throw new ContractError(contract.name, reason, { cause });
  };
  const misshapen = checkShape(contract);
  if (misshapen !== undefined) return reject(misshapen);
  const schemaOf = (side: "input" | "output"): JsonSchema7 => {
    const schema = contract[side] as Partial<ClosedObjectSchema>;
    if (schema.type !== "strict_object") return reject(`${side} must be a strictObject of valibot`);
    try {
      return deriveSchema(contract[side]);
    } catch (cause) {
      return reject(`${side}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
  };
  const schemas = { inputSchema: schemaOf("input"), outputSchema: schemaOf("output") };
  const reason = checkConsistency({ contract, ...schemas });
  return reason === undefined ? joinSchemas(contract, schemas) : reject(reason);
}
