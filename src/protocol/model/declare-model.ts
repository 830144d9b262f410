import type { DeployedModel, ModelDeclaration, ModelWireId } from "./declaration.ts";
import { abilitiesOf } from "./families.ts";

/** Settings of the provider of each wire. OpenAI serves two wires under one address. */
const PROVIDERS: { readonly [Wire in ModelWireId]: string } = {
  openai: "OPENAI",
  responses: "OPENAI",
  anthropic: "ANTHROPIC",
};

/**
 * Writes out the defaults of a declaration. `fallback` lists all models that may answer in its
 * place. Contract: pure.
 */
export function declareModel(
  declaration: ModelDeclaration,
  fallback: readonly string[] = [],
): DeployedModel {
  const { id, wire, name = id, can } = declaration;
  return {
    address: `${PROVIDERS[wire]}_BASE_URL`,
    secret: `${PROVIDERS[wire]}_API_KEY`,
    ...declaration,
    name,
    can: { ...abilitiesOf(wire, name), ...can },
    fallback,
  };
}
