import type { ToolId } from "../protocol/ids.ts";
import type { JsonSchema7, ToolSpec } from "../protocol/tool-spec.ts";
import { checkContract, checkShape } from "./check-contract.ts";
import { ContractError } from "./contract-error.ts";
import { deriveSchema } from "./derive-schema.ts";
import type { AnyToolContract, ClosedObjectSchema } from "./tool-contract.ts";

/** What is derived from a contract that may be registered. */
export interface RegisteredContract {
  readonly spec: ToolSpec;
  readonly outputSchema: JsonSchema7;
}

/** Contracts never change, and every run binds them anew. */
const registered = new WeakMap<AnyToolContract, RegisteredContract>();

/**
 * Checks all of a contract and derives what others see of it: deriving is registering (seeds/000 #14,
 * #26a).
 * Contract: a contract is checked once.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function registerContract(contract: AnyToolContract): RegisteredContract {
  const known = registered.get(contract);
  if (known) return known;
  const derived = derive(contract);
  registered.set(contract, derived);
  return derived;
}

/** Derives what the model sees of a contract. Fails: as registerContract. */
export function toToolSpec(contract: AnyToolContract): ToolSpec {
  return registerContract(contract).spec;
}

/**
 * Checks contracts one by one and as a set: a version is registered once (seeds/000 #22), and what
 * compensates is there.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function registerContracts(contracts: readonly AnyToolContract[]): readonly ToolSpec[] {
  const names = new Set(contracts.map(({ name }) => name));
  const versions = new Set<string>();
  return contracts.map((contract) => {
    const spec = toToolSpec(contract);
    const key = versionKey(contract.name, contract.version);
    if (versions.has(key)) {
      throw new ContractError(contract.name, `version ${contract.version} is taken`);
    }
    versions.add(key);
    const { compensationTool } = contract.transactional;
    if (compensationTool !== null && !names.has(compensationTool)) {
      throw new ContractError(
        contract.name,
        `compensationTool ${compensationTool} is not registered`,
      );
    }
    return spec;
  });
}

/** Names one version of one tool. */
export function versionKey(toolId: string, version: string): string {
  return JSON.stringify([toolId, version]);
}

function derive(contract: AnyToolContract): RegisteredContract {
  const reject = (reason: string, cause?: unknown): never => {
    throw new ContractError(contract.name, reason, { cause });
  };
  const misshapen = checkShape(contract);
  if (misshapen !== undefined) return reject(misshapen);
  const schemaOf = (side: "input" | "output"): JsonSchema7 => {
    const schema = contract[side] as Partial<ClosedObjectSchema>;
    if (schema.type !== "strict_object") return reject(`${side} must be a strictObject`);
    try {
      return deriveSchema(contract[side]);
    } catch (cause) {
      return reject(`${side}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
  };
  const inputSchema = schemaOf("input");
  const outputSchema = schemaOf("output");
  const reason = checkContract({ contract, inputSchema, outputSchema });
  if (reason !== undefined) return reject(reason);
  return { spec: toSpec(contract, inputSchema), outputSchema };
}

function toSpec(contract: AnyToolContract, inputSchema: JsonSchema7): ToolSpec {
  return {
    name: contract.name as ToolId,
    version: contract.version,
    description: contract.description,
    inputSchema,
    effect: contract.effect,
    sideEffectClass: contract.sideEffectClass,
    confirmationRequired: contract.transactional.confirmationRequired,
    lifecycle: contract.lifecycle,
    redaction: contract.redaction,
  };
}
