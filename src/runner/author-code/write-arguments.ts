import { isJsonObject } from "../../protocol/json/value.ts";

/**
 * Writes arguments that an author's function made as JSON; undefined for what is no plain object.
 * Threat: a promise would be written as `{}`, which some tools take for "everything".
 * Fails: throws for a cycle and for a getter that throws.
 */
export function writeArguments(made: unknown): string | undefined {
  if (!isJsonObject(made)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(made);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const text: unknown = JSON.stringify(made);
  return typeof text === "string" ? text : undefined;
}
