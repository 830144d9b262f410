import type { RegisteredContract } from "../../src/contracts/catalog/registered.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import { withoutNull } from "../../src/protocol/tool/schema-path.ts";
import type { Finding } from "./finding.ts";

/**
 * Finds writes whose arguments decide what they do: policy, approval rules and budgets know a tool
 * by its id and class, and cannot tell its operations apart (seeds/004, "Overbroad Tool
 * Affordance"). The names are a guess, so a finding is a warning.
 */
export function checkAffordance(contracts: readonly RegisteredContract[]): readonly Finding[] {
  return contracts
    .filter(({ spec }) => spec.effect !== "read_only")
    .flatMap(({ spec }) => {
      const { properties } = spec.inputSchema;
      return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(
        ([field, schema]): Finding[] => {
          const message = isJsonObject(schema) && describeBroad(field, withoutNull(schema));
          return message ? [{ level: "warning", place: spec.name, message }] : [];
        },
      );
    });
}

const CHOICE = /^(?:action|command|method|op|operation|verb)$/i;
const PROGRAM = /^(?:code|command|expression|query|script|sql|statement)$/i;

function describeBroad(
  field: string,
  { enum: choices, type, pattern }: JsonObject,
): string | false {
  const isChoice = CHOICE.test(field) && Array.isArray(choices) && choices.length > 1;
  if (isChoice) {
    return (
      `${field} chooses between ${choices.length} operations; ` +
      "make one tool of each, so that policy can tell them apart"
    );
  }
  const isProgram = type === "string" && !choices && pattern === undefined && PROGRAM.test(field);
  return (
    isProgram &&
    `${field} takes any text and reads like a program; ` +
      "take the values that the tool needs, so that policy can bound them"
  );
}
