import type { ToolId } from "../../protocol/identity/ids.ts";
import type { JsonSchema7, ToolSpec } from "../../protocol/tool/spec.ts";
import type { AnyToolContract } from "../define/definition.ts";

/** Longest text that a provider takes for a tool. OpenAI refuses a request with a longer one. */
export const MAX_MODEL_TEXT_CHARS = 1_024;

/**
 * Writes what a model reads of a tool beside its name and its schema: the description, when to use
 * the tool and when not, and its examples. Contract: registration bounds it.
 */
export function formatModelText(contract: AnyToolContract): string {
  const { description, allowedUseCases, forbiddenUseCases, examples } = contract;
  const cases = (lead: string, texts: readonly string[]): readonly string[] =>
    texts.length === 0 ? [] : [`${lead}: ${texts.join(" ")}`];
  return [
    description,
    ...cases("Use for", allowedUseCases),
    ...cases("Not for", forbiddenUseCases),
    ...examples.map((one) => `Example: ${one.description} ${JSON.stringify(one.arguments)}`),
  ].join("\n");
}

/** JSON Schemas that are derived from a contract. */
export interface DerivedSchemas {
  readonly inputSchema: JsonSchema7;
  readonly outputSchema: JsonSchema7;
  /** Of the answer that the contract asks for; absent: it asks nothing. */
  readonly formSchema?: JsonSchema7;
  /** Of what the tool tells people beside its output; absent: nothing. */
  readonly detailsSchema?: JsonSchema7;
  /** The output holds numbers, booleans and listed values only. */
  readonly isOutputTextFree?: true;
  /** A call sends text of its arguments to a service, and changes nothing. */
  readonly discloses?: true;
}

/** A contract that passed registration, either just now or in the build. */
export interface RegisteredContract {
  readonly contract: AnyToolContract;
  readonly spec: ToolSpec;
  readonly outputSchema: JsonSchema7;
  readonly formSchema?: JsonSchema7;
  readonly detailsSchema?: JsonSchema7;
  readonly isOutputTextFree: boolean;
  readonly discloses: boolean;
}

/** Lists the specs of contracts, in their order. */
export function specsOf(contracts: readonly RegisteredContract[]): readonly ToolSpec[] {
  return contracts.map(({ spec }) => spec);
}

/** Joins a contract and its schemas. Contract: the caller has checked that they belong together. */
export function joinSchemas(
  contract: AnyToolContract,
  { inputSchema, outputSchema, isOutputTextFree, discloses, ...schemas }: DerivedSchemas,
): RegisteredContract {
  const { security } = contract;
  const spec = {
    name: contract.name as ToolId,
    version: contract.version,
    description: formatModelText(contract),
    ...(contract.title !== undefined && { title: contract.title }),
    ...(contract.category !== undefined && { category: contract.category }),
    inputSchema,
    effect: contract.effect,
    sideEffectClass: contract.sideEffectClass,
    confirmationRequired: contract.transactional.confirmationRequired,
    lifecycle: contract.lifecycle,
    shownToModel: contract.shownToModel,
    ...(contract.workspace !== undefined && { workspace: contract.workspace }),
    redaction: contract.redaction,
    requiredScopes: security.requiredScopes,
    dataClass: security.dataClassification,
    destinations: [...security.upstreams, ...security.egressHosts],
    requiresConnection: contract.requiresConnection,
    ...(contract.saga && { steps: contract.saga.steps.map(({ tool }) => tool) }),
  };
  const facts = { isOutputTextFree: isOutputTextFree === true, discloses: discloses === true };
  const { formSchema, detailsSchema } = schemas;
  return {
    contract,
    spec,
    outputSchema,
    ...(formSchema && { formSchema }),
    ...(detailsSchema && { detailsSchema }),
    ...facts,
  };
}

/** Makes a map key for one version of one tool. */
export function versionKey(toolId: string, version: string): string {
  return JSON.stringify([toolId, version]);
}
