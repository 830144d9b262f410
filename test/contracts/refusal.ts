import { ContractError } from "../../src/contracts/define/contract-error.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { registerContract } from "../../src/contracts/check/register.ts";
import { sound } from "./definitions.ts";

/** Fields of a definition that replace those of a sound one. */
export type Change = Readonly<Record<string, unknown>>;

/**
 * Registers a sound contract with one change and returns the refusal's text. Fails: throws if it
 * registers.
 */
export function refusalOf(change: Change): string {
  try {
    registerContract(defineTool({ ...sound, ...change }));
  } catch (error) {
    if (error instanceof ContractError) return error.message;
    throw error;
  }
  throw new Error("the contract was registered");
}

/** The start of every refusal: it names the tool. */
export function startOf(change: Change): string {
  const name: unknown = change["name"] ?? sound.name;
  return `Tool ${JSON.stringify(name)}: `;
}
