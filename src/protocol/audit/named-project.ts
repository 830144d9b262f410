import { isJsonObject, type JsonObject, type JsonValue } from "../json/value.ts";

/**
 * Finds the project that a call names: the argument `projectId`, that of a row in its
 * ToolCallResult (seeds/003, section 2), or the project that it answers; null when it names none.
 * Contract: pure.
 */
export function projectOf(
  input: JsonObject | undefined,
  output: JsonObject | undefined,
): string | null {
  const rows = propertiesOf(propertiesOf(propertiesOf(output)["result"])["data"]);
  const holders = [input, rows, ...Object.values(rows)];
  const found = holders.map((holder) => propertiesOf(holder)["projectId"]);
  found.push(propertiesOf(rows["project"])["id"]);
  return found.find((id) => typeof id === "string") ?? null;
}

function propertiesOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
