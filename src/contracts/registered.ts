import type { ToolId } from "../protocol/identity/ids.ts";
import type { JsonSchema7, ToolSpec } from "../protocol/tool/spec.ts";
import type { AnyToolContract } from "./definition.ts";

/** What is derived from a contract. */
export interface DerivedSchemas {
  readonly inputSchema: JsonSchema7;
  readonly outputSchema: JsonSchema7;
}

/** A contract that may be served; registering makes it, or reading what the build registered. */
export interface RegisteredContract {
  readonly contract: AnyToolContract;
  readonly spec: ToolSpec;
  readonly outputSchema: JsonSchema7;
}

/** Joins a contract and its own schemas; whoever calls it has made sure of both. */
export function joinSchemas(
  contract: AnyToolContract,
  { inputSchema, outputSchema }: DerivedSchemas,
): RegisteredContract {
  const spec = {
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
  return { contract, spec, outputSchema };
}

/** Names one version of one tool. */
export function versionKey(toolId: string, version: string): string {
  return JSON.stringify([toolId, version]);
}
