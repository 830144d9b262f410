import type { AnyToolContract } from "../define/definition.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { admitsText } from "./admits-text.ts";
import type { DerivedContract } from "./check-named-fields.ts";

/** Tells whether a call sends text of its arguments to a service, and does nothing else. */
export function disclosesBy(
  { capabilities, effect, security }: AnyToolContract,
  inputSchema: JsonSchema7,
): boolean {
  if (effect !== "read_only") return false;
  return security.discloses ?? (capabilities.includes("http") && admitsText(inputSchema));
}

/** Threat: a read that is said to disclose nothing carries what it is told to a stranger. */
export function checkDisclosure({ contract, inputSchema }: DerivedContract): string | undefined {
  const { discloses } = contract.security;
  if (discloses === undefined) return undefined;
  if (contract.effect !== "read_only") {
    return "security.discloses is of a tool that only reads; leave it out";
  }
  return !discloses && admitsText(inputSchema, isOwnId)
    ? "security.discloses needs arguments without free text; bound each text by a pattern and maxLength 64"
    : undefined;
}

const MAX_ID_CHARS = 64;
/** Texts that no id of a deployment looks like. */
const FREE_TEXTS = ["two words", "https://x.example/?q=a", "ann@x.example"];

/** Tells whether a text is bounded like an id. */
function isOwnId({ type, pattern, maxLength = Infinity }: JsonSchema7): boolean {
  if (type !== "string" || typeof pattern !== "string" || Number(maxLength) > MAX_ID_CHARS)
    return false;
  const form = new RegExp(pattern, "u");
  return FREE_TEXTS.every((text) => !form.test(text));
}
