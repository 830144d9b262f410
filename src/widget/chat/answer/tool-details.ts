import { say, type Text } from "../../texts/say.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json/value.ts";

/** What a tool tells the reader beside its result; or why the reader is not told it. */
export type ToolDetails = { readonly value: JsonObject } | { readonly leftOut: string };

const LEFT_OUT: Readonly<Record<string, Text>> = {
  invalid: "The tool told more, which does not fit its contract and is not shown.",
  too_large: "The tool told more, which is too large and is not shown.",
};

/** Reads the untrusted artifact of a result; undefined without details. */
export function readToolDetails(artifact: JsonValue | undefined): ToolDetails | undefined {
  const told = isJsonObject(artifact) ? artifact["details"] : undefined;
  if (!isJsonObject(told)) return undefined;
  const { value, leftOut } = told;
  if (isJsonObject(value)) return { value };
  const isKnown = typeof leftOut === "string" && Object.hasOwn(LEFT_OUT, leftOut);
  const why = isKnown ? LEFT_OUT[leftOut] : undefined;
  return why && { leftOut: say(why) };
}
