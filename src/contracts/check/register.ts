import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { admitsText } from "./admits-text.ts";
import { disclosesBy } from "./check-disclosure.ts";
import { checkSaga } from "./check-saga.ts";
import { checkConsistency } from "./consistency.ts";
import { ContractError } from "../define/contract-error.ts";
import { deriveSchema } from "./derive-schema.ts";
import { joinSchemas, versionKey, type RegisteredContract } from "../catalog/registered.ts";
import { checkShape } from "./shape.ts";
import type { AnyToolContract, ClosedObjectSchema } from "../define/definition.ts";

/**
 * Registers contracts. Checks each alone, and all as a set: a version is registered once
 * (seeds/000 #22), every tool that undoes calls is able to, and sagas keep their order.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function registerContracts(
  contracts: readonly AnyToolContract[],
): readonly RegisteredContract[] {
  const versions = new Set<string>();
  const titles = new Map<string, string>();
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
    const { name, title } = contract;
    const titled = title === undefined ? name : (titles.get(title.toLowerCase()) ?? name);
    // Threat: people approve a call of one tool and take it for another.
    if (titled !== name) throw new ContractError(name, `title "${title}" is that of ${titled}`);
    if (title !== undefined) titles.set(title.toLowerCase(), name);
    const incapable = checkCompensator(contract, contracts);
    if (incapable !== undefined) throw new ContractError(contract.name, incapable);
    const misplaced = checkSaga(contract, contracts);
    if (misplaced !== undefined) throw new ContractError(contract.name, misplaced);
    return registered;
  });
}

/**
 * Tells why the tool that a contract names cannot undo its calls. Each registered version of the
 * tool counts, because policy may select any.
 */
function checkCompensator(
  { transactional }: AnyToolContract,
  contracts: readonly AnyToolContract[],
): string | undefined {
  const { compensationTool } = transactional;
  if (compensationTool === null) return undefined;
  const named = contracts.filter(({ name }) => name === compensationTool);
  if (named.length === 0) {
    return `compensationTool ${compensationTool} is not registered; add its contract to the list`;
  }
  if (named.some(({ effect }) => effect === "read_only")) {
    return `compensationTool ${compensationTool} only reads; name a tool that changes something`;
  }
  // An undo run may use the tool that undoes the call, and no tools of steps.
  if (named.some(({ saga }) => saga)) {
    return `compensationTool ${compensationTool} is a saga; name a tool that undoes the call itself`;
  }
  // A crash repeats a compensation, and a second one must undo nothing else.
  return named.every(({ idempotency }) => idempotency.supported)
    ? undefined
    : `compensationTool ${compensationTool} is not idempotent; set its idempotency.supported`;
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
  const schemaOf = (side: string, given: ClosedObjectSchema): JsonSchema7 => {
    const { type } = given as Partial<ClosedObjectSchema>;
    if (type !== "strict_object") return reject(`${side} must be a strictObject of valibot`);
    try {
      return deriveSchema(given);
    } catch (cause) {
      return reject(`${side}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
  };
  const { ask, details, input, output } = contract;
  const schemas = {
    inputSchema: schemaOf("input", input),
    outputSchema: schemaOf("output", output),
    ...(ask && { formSchema: schemaOf("ask.form", ask.form) }),
    ...(details && { detailsSchema: schemaOf("details", details) }),
  };
  const reason = checkConsistency({ contract, ...schemas });
  if (reason !== undefined) return reject(reason);
  const isTextFree = !admitsText(schemas.outputSchema);
  return joinSchemas(contract, {
    ...schemas,
    ...(isTextFree && { isOutputTextFree: true }),
    ...(disclosesBy(contract, schemas.inputSchema) && { discloses: true }),
  });
}
