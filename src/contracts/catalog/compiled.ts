import type { Result } from "../../protocol/outcome/result.ts";
import type { AnyToolContract } from "../define/definition.ts";
import { joinSchemas, type DerivedSchemas, type RegisteredContract } from "./registered.ts";
import { stampOf } from "./stamp.ts";

/** What the build stores of a list of contracts: everything that the contracts do not hold. */
export interface CompiledList {
  /** Changes with each contract and their order, but not with what their functions do. */
  readonly stamp: number;
  /** In the order of the contracts. */
  readonly schemas: readonly DerivedSchemas[];
}

/** Result of the build, or why a contract cannot be registered. */
export type CompiledContracts = Result<CompiledList, string>;

/**
 * Takes the derived schemas, so that a deployment does not derive or check anything at its start.
 */
export function compileContracts(registered: readonly RegisteredContract[]): CompiledContracts {
  const schemas = registered.map(({ spec, outputSchema, ...facts }) => ({
    inputSchema: spec.inputSchema,
    outputSchema,
    ...(facts.formSchema && { formSchema: facts.formSchema }),
    ...(facts.detailsSchema && { detailsSchema: facts.detailsSchema }),
    ...(facts.isOutputTextFree && { isOutputTextFree: true as const }),
    ...(facts.discloses && { discloses: true as const }),
  }));
  const stamp = stampOf(registered.map(({ contract }) => contract));
  return { ok: true, value: { stamp, schemas } };
}

/**
 * Joins contracts to the schemas that the build stored for them.
 * Fails: throws the reason why the build refused, also when the build saw other contracts, or in
 * another order.
 */
export function readCompiled(
  contracts: readonly AnyToolContract[],
  compiled: unknown,
): readonly RegisteredContract[] {
  if (!isCompiled(compiled)) throw new Error(STALE);
  if (!compiled.ok) throw new Error(compiled.failure);
  const { stamp, schemas } = compiled.value;
  if (stamp !== stampOf(contracts)) throw new Error(STALE);
  return contracts.map((contract, index) => {
    const kept = schemas[index];
    if (!kept) throw new Error(STALE);
    return joinSchemas(contract, kept);
  });
}

const STALE = "contracts: the compiled contracts do not match the code; run npx interlock build";

function isCompiled(compiled: unknown): compiled is CompiledContracts {
  if (typeof compiled !== "object" || compiled === null || !("ok" in compiled)) return false;
  if (compiled.ok === false) return true;
  const { value } = compiled as { readonly value?: Partial<CompiledList> };
  return Array.isArray(value?.schemas);
}
