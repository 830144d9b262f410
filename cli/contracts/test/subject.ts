import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import * as fc from "fast-check";
import * as v from "valibot";
import {
  publishContract,
  type PublishedContract,
} from "../../../src/contracts/catalog/published-contract.ts";
import { registerContract } from "../../../src/contracts/check/register.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { isJsonObject, type JsonObject } from "../../../src/protocol/json/value.ts";
import type { Result } from "../../../src/protocol/outcome/result.ts";
import { isSunset } from "../../../src/protocol/tool/lifecycle.ts";
import type { JsonSchema7 } from "../../../src/protocol/tool/spec.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import { mutationOf, valueOf, type Mutation } from "./schema-values.ts";
import { keyOf, type ContractLock } from "../lock/contract-lock.ts";
import type { Exchange, Exchanges } from "./exchange-files.ts";

/** Generated values of each kind. */
const SAMPLES = 30;
/** Fixed seed, so that a failure repeats. */
const SEED = 4;

/** One contract under test, with its generated values. */
export interface Subject {
  /** `<tool>@<version>`. */
  readonly key: string;
  readonly contract: AnyToolContract;
  readonly published: PublishedContract;
  /** Other contracts that it cannot be registered without: what compensates it, and so on. */
  readonly companions: readonly AnyToolContract[];
  /** The tool of a saga's first step. */
  readonly firstStep: AnyToolContract | undefined;
  /** What was promised; a failure says why nobody knows. */
  readonly lock: Result<ContractLock, string>;
  readonly inputSchema: JsonSchema7;
  readonly outputSchema: JsonSchema7;
  /**
   * Arguments that the published schema and the rules let through: examples first, at least one.
   */
  readonly validArgs: readonly [JsonObject, ...JsonObject[]];
  /** Arguments with one thing wrong. */
  readonly badArgs: readonly Mutation[];
  /** What the services of its requests answer. */
  readonly exchanges: readonly Exchange[];
  /** Outputs that the published schema lets through, at least one. */
  readonly outputs: readonly [JsonObject, ...JsonObject[]];
}

/** What a contract is tested against. */
export interface Surroundings {
  readonly contracts: readonly AnyToolContract[];
  readonly lock: Result<ContractLock, string>;
  readonly exchanges: Exchanges;
}

/**
 * Prepares a contract for the tests. Contract: deterministic. Fails: throws when no arguments or no
 * output can be generated.
 */
export async function makeSubject(
  contract: AnyToolContract,
  { contracts, lock, exchanges }: Surroundings,
): Promise<Subject> {
  const registered = registerContract(contract);
  const published = await publishContract(registered);
  const { spec, outputSchema } = registered;
  const { inputSchema } = spec;
  const examples = contract.examples.map((example) => example.arguments as JsonObject);
  const args = [...examples, ...sampleObjects(inputSchema)].filter(
    (candidate) => rulesBrokenBy(contract, candidate).length === 0,
  );
  const [firstArgs, ...moreArgs] = args;
  const [firstOutput, ...moreOutputs] = sampleObjects(outputSchema);
  if (!firstArgs) throw new Error("no arguments could be made that it takes; give it an example");
  if (!firstOutput) throw new Error("no output could be made that its schema takes");
  return {
    key: keyOf(published),
    contract,
    published,
    companions: companionsOf(contract, contracts),
    firstStep: contracts.find(({ name }) => name === contract.saga?.steps[0]?.tool),
    lock,
    inputSchema,
    outputSchema,
    validArgs: [firstArgs, ...moreArgs],
    exchanges: exchanges.get(contract.name) ?? [],
    badArgs: sampleFrom(mutationOf(inputSchema), SAMPLES),
    outputs: [firstOutput, ...moreOutputs],
  };
}

/** Samples the same values every time. */
export function sampleFrom<T>(arbitrary: fc.Arbitrary<T>, count: number): readonly T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: SEED });
}

/** Samples objects that a schema accepts, checked by another validator than the runner's. */
export function sampleObjects(schema: JsonSchema7, count = SAMPLES): readonly JsonObject[] {
  const fits = validatorOf(schema);
  // Goes through JSON, as all model output: no -0 and no undefined.
  const drawn = sampleFrom(valueOf(schema), count).map((value) => JSON.stringify(value));
  return drawn
    .map((text) => JSON.parse(text) as unknown)
    .filter((value) => isJsonObject(value))
    .filter(fits);
}

/** Returns whether calls still reach a version, at the fixed time of the tests. */
export function stillRuns({ lifecycle }: AnyToolContract): boolean {
  return !isSunset(lifecycle, new FakeClock().nowMs());
}

/** Compiles a published schema. */
export function validatorOf(schema: JsonSchema7): (value: unknown) => boolean {
  const validate = ajv.compile(schema);
  return (value) => validate(value);
}

const ajv = new Ajv({ strict: false });
addFormats(ajv);

/** Lists the rules that arguments break. None for arguments that do not match the schema. */
export function rulesBrokenBy(contract: AnyToolContract, args: JsonObject): readonly string[] {
  const parsed = v.safeParse(contract.input, args);
  if (!parsed.success) return [];
  return contract.rules.filter((rule) => !holds(rule, parsed.output)).map(({ code }) => code);
}

/** A rule that throws refuses the call. */
function holds(rule: AnyToolContract["rules"][number], args: unknown): boolean {
  try {
    return rule.holds(args as never);
  } catch {
    return false;
  }
}

function companionsOf(
  { name, transactional }: AnyToolContract,
  contracts: readonly AnyToolContract[],
): readonly AnyToolContract[] {
  const names = new Set([name]);
  for (let next = transactional.compensationTool; next !== null && !names.has(next);) {
    names.add(next);
    const called = contracts.find((contract) => contract.name === next);
    next = called?.transactional.compensationTool ?? null;
  }
  return contracts.filter((contract) => contract.name !== name && names.has(contract.name));
}
