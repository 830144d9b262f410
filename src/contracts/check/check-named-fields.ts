import { hasCode } from "../define/author-code.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import type { AnyToolContract } from "../define/definition.ts";
import type { DerivedSchemas } from "../catalog/registered.ts";
import { EACH, isShownBy, schemaAt, withoutNull } from "../../protocol/tool/schema-path.ts";

/** A contract and its derived schemas. */
export interface DerivedContract extends DerivedSchemas {
  readonly contract: AnyToolContract;
}

/** Tells which field a contract names that does not exist, or is not what it has to be. */
export function checkNamedFields(derived: DerivedContract): string | undefined {
  return checkRedaction(derived) ?? checkDrift(derived) ?? checkPointers(derived);
}

function checkRedaction({
  contract,
  inputSchema,
  outputSchema,
  detailsSchema,
}: DerivedContract): string | undefined {
  const { args, output, details } = contract.redaction;
  const find = (schema: JsonSchema7, paths: readonly string[]): string | undefined =>
    paths.find((path) => !schemaAt(schema, path.split(".")));
  const unknownArg = find(inputSchema, args);
  if (unknownArg !== undefined) return `redaction.args names no field: ${unknownArg}`;
  const unknownOutput = find(outputSchema, output);
  if (unknownOutput !== undefined) return `redaction.output names no field: ${unknownOutput}`;
  if ((details === undefined) !== (detailsSchema === undefined)) {
    return "details and redaction.details go together; list the fields that people may see";
  }
  const unknownDetail = detailsSchema && find(detailsSchema, details ?? []);
  if (unknownDetail !== undefined) return `redaction.details names no field: ${unknownDetail}`;
  // A state that nobody may see is useless. A state list without a state is a mistake.
  const isShown = contract.redaction.state !== undefined;
  const hasState = hasCode(contract, "preview") || contract.verification !== undefined;
  if (isShown === hasState) return undefined;
  return isShown
    ? "redaction.state needs preview or verification; remove it, or add one of them"
    : "preview and verification need redaction.state; list the fields that people may see";
}

/** Threat: a contract seems to bind what people see, and binds nothing. */
function checkDrift({ contract }: DerivedContract): string | undefined {
  const { mayDrift, redaction } = contract;
  if (mayDrift === undefined) return undefined;
  if (!hasCode(contract, "preview")) return "mayDrift needs preview; remove it, or add preview";
  const lost = Object.keys(mayDrift).find(
    (field) => !(redaction.state ?? []).some((shown) => isShownBy(field, shown)),
  );
  return lost === undefined ? undefined : `mayDrift names no field of redaction.state: ${lost}`;
}

function checkPointers({ contract, inputSchema }: DerivedContract): string | undefined {
  const { amountField, rules } = contract;
  const find = (pointer: string): JsonObject | undefined =>
    pointer.startsWith("/") ? schemaAt(inputSchema, fromPointer(pointer)) : undefined;
  const lost = rules.find(({ field }) => field !== undefined && !find(field));
  if (lost) return `rule ${lost.code} names no input field: ${lost.field}`;
  if (amountField === undefined) return undefined;
  if (typeof amountField === "object") return checkPreviewAmount(contract, amountField.preview);
  const amount = find(amountField);
  if (!amount) return `amountField names no input field: ${amountField}`;
  const { type } = withoutNull(amount);
  const isInList = fromPointer(amountField).includes(EACH);
  const isOneNumber = !isInList && (type === "number" || type === "integer");
  return isOneNumber ? undefined : `amountField is not one number: ${amountField}`;
}

/** Threat: people approve a call whose amount they do not see. */
function checkPreviewAmount(
  contract: Pick<AnyToolContract, "code" | "redaction" | "saga">,
  pointer: string,
): string | undefined {
  const [state = "", ...path] = fromPointer(pointer);
  const field = path.join(".");
  const isShown = contract.redaction.state?.some((shown) => isShownBy(field, shown)) === true;
  const isState = state === "before" || state === "after";
  return hasCode(contract, "preview") && isState && isShown
    ? undefined
    : `amountField names no field of preview that redaction.state shows: ${pointer}`;
}
