import { isDeepStrictEqual } from "node:util";
import type { PublishedContract } from "../../../src/contracts/catalog/published-contract.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import { toPointer } from "../../../src/protocol/json/pointer.ts";
import { toChange, type ContractChange, type Difference } from "./contract-change.ts";
import type { ContractPair } from "./contract-rule.ts";
import { CONTRACT_RULES } from "./contract-rules.ts";
import { diffInputSchema, diffOutputSchema } from "./diff-schemas.ts";

/**
 * Hashes that follow from the other fields. A change of a hash alone has no visible reason, so it
 * is breaking.
 */
const DERIVED: ReadonlySet<string> = new Set([
  "/contract/identity/version",
  "/interlock/schema_hash",
  "/interlock/contract_hash",
]);

/**
 * Lists every change between two contracts of one tool, and whether it breaks users. Contract:
 * pure; empty only for equal contracts of one version. A change without a rule is breaking.
 */
export function diffContracts(
  locked: PublishedContract,
  current: PublishedContract,
): readonly ContractChange[] {
  const changes = walk({ path: [], before: locked, after: current }, { locked, current });
  const told = changes.filter(({ pointer }) => !DERIVED.has(pointer));
  const isOneVersion = locked.contract.identity.version === current.contract.identity.version;
  return told.length === 0 && isOneVersion ? changes : told;
}

function walk(difference: Difference, pair: ContractPair): readonly ContractChange[] {
  const { path, before, after } = difference;
  const pointer = toPointer(path);
  if (isDeepStrictEqual(before, after)) return [];
  if (pointer === "/contract/affordance/input_schema") return diffInputSchema(difference);
  if (pointer === "/contract/affordance/output_schema") return diffOutputSchema(difference);
  const rule = CONTRACT_RULES.get(pointer);
  if (rule && before !== undefined && after !== undefined) {
    return rule(difference, pair).map((verdict) => toChange(difference, verdict));
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      walk({ path: [...path, key], before: own(before, key), after: own(after, key) }, pair),
    );
  }
  const what = "no rule knows this field, so it counts as breaking";
  return [toChange(difference, { kind: "breaking", what })];
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
