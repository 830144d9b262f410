import { fieldsOf, isForm } from "../../protocol/approval/question.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import type { DerivedContract } from "./check-named-fields.ts";
import { checkSchema } from "./check-schema.ts";

/**
 * Tells why people cannot answer what a contract asks.
 * Threat: an answer holds what approvers do not see, or what no form shows.
 */
export function checkAsk({
  contract,
  formSchema,
  inputSchema,
}: DerivedContract): string | undefined {
  if (!formSchema) return undefined;
  const { input, redaction, runtime } = contract;
  const fault = checkSchema(formSchema, runtime.maxArgumentsBytes);
  if (fault !== undefined) return `ask.form ${fault}`;
  if (!isForm(formSchema)) {
    return "ask.form must have 1 to 16 texts, numbers, booleans or listed values, and nothing else";
  }
  const names = fieldsOf(formSchema).map(([name]) => name);
  const foreign = names.find((name) => !Object.hasOwn(input.entries, name));
  if (foreign !== undefined) return `ask.form names no field of the input: ${foreign}`;
  const hidden = names.find((name) => !redaction.args.includes(name));
  if (hidden !== undefined) {
    return `ask.form needs ${hidden} in redaction.args, so that approvers see the answer`;
  }
  // Limits hold for the amount that a model proposed, before anybody is asked.
  const amount = typeof contract.amountField === "string" ? contract.amountField.slice(1) : "";
  return names.includes(amount) && !isRequired(inputSchema, amount)
    ? `ask.form may replace the amountField ${amount} only where the input requires it`
    : undefined;
}

function isRequired({ required }: JsonSchema7, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}
