import { MAX_CONTRACT_BYTES } from "../protocol/ids.ts";
import { isJsonObject, type JsonValue } from "../protocol/json.ts";
import type { JsonSchema7, ToolSpec } from "../protocol/tool-spec.ts";

/** A contract that may not be registered. It is a bug of its author, so it stops the start. */
export class ContractError extends Error {
  override readonly name = "ContractError";
}

/** What the check reads of a contract. */
export interface CheckedContract {
  readonly spec: ToolSpec;
  readonly outputSchema: JsonSchema7;
  readonly maxArgumentsBytes: number;
  readonly maxResultBytes: number;
}

const NAME = /^[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*__[a-zA-Z0-9_-]+$/;

/**
 * Rejects a contract whose name, limits or redaction cannot be honoured.
 * Fails: throws ContractError with the tool's name and the reason.
 */
export function checkContract(contract: CheckedContract): void {
  const { name } = contract.spec;
  const reject = (reason: string): never => {
    throw new ContractError(`Tool ${JSON.stringify(name)}: ${reason}`);
  };
  if (!NAME.test(name) || name.length > 64) {
    reject("name must be <namespace>__<tool> of [a-zA-Z0-9_-], at most 64 characters");
  }
  for (const limit of ["maxArgumentsBytes", "maxResultBytes"] as const) {
    const bytes = contract[limit];
    if (!Number.isInteger(bytes) || bytes < 1 || bytes > MAX_CONTRACT_BYTES) {
      reject(`${limit} must be from 1 to ${MAX_CONTRACT_BYTES}`);
    }
  }
  const { redaction, inputSchema } = contract.spec;
  for (const path of redaction.args) {
    if (!hasPath(inputSchema, path.split("."))) reject(`redaction.args names no field: ${path}`);
  }
  for (const path of redaction.output) {
    if (!hasPath(contract.outputSchema, path.split("."))) {
      reject(`redaction.output names no field: ${path}`);
    }
  }
}

/** Tells whether a schema knows the place that a path names; `*` stands for every array item. */
export function hasPath(
  schema: JsonValue | undefined,
  [head, ...rest]: readonly string[],
): boolean {
  if (head === undefined) return true;
  if (!isJsonObject(schema)) return false;
  const { anyOf } = schema;
  if (Array.isArray(anyOf)) return anyOf.some((option) => hasPath(option, [head, ...rest]));
  if (head === "*" && "items" in schema) return hasPath(schema["items"], rest);
  const properties = schema["properties"];
  return (
    isJsonObject(properties) && Object.hasOwn(properties, head) && hasPath(properties[head], rest)
  );
}
