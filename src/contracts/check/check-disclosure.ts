import type { AnyToolContract } from "../define/definition.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { admitsText } from "./admits-text.ts";
import type { DerivedContract } from "./check-named-fields.ts";

/** Tells whether a call sends text of its arguments to a service, and does nothing else. */
export function disclosesBy(
  { capabilities, effect, security }: AnyToolContract,
  inputSchema: JsonSchema7,
): boolean {
  if (effect !== "read_only") return false;
  return security.discloses ?? (capabilities.includes("http") && carriesText(inputSchema));
}

/** Threat: a read that is said to disclose nothing carries what it is told to a stranger. */
export function checkDisclosure({ contract, inputSchema }: DerivedContract): string | undefined {
  const { discloses } = contract.security;
  if (discloses === undefined) return undefined;
  if (contract.effect !== "read_only") {
    return "security.discloses is of a tool that only reads; leave it out";
  }
  return !discloses && carriesText(inputSchema, isOwnId)
    ? "security.discloses needs arguments without free text; bound each text by a pattern and maxLength 64, and each list by maxItems 16"
    : undefined;
}

/**
 * Tells whether arguments can carry a text out.
 * Threat: a long list of ids or of numbers spells a text.
 */
function carriesText(schema: JsonSchema7, isBounded?: typeof isOwnId): boolean {
  return admitsText(schema, isBounded) || hasLongList(schema);
}

const MAX_ITEMS = 16;

function hasLongList(schema: JsonValue | undefined): boolean {
  if (!isJsonObject(schema)) return false;
  const { type, items, maxItems = Infinity, properties = {}, anyOf = [] } = schema;
  if (type === "array" && !(Number(maxItems) <= MAX_ITEMS)) return true;
  const parts = [items, ...Object.values(properties ?? {}), ...(isJsonArray(anyOf) ? anyOf : [])];
  return parts.some((part) => hasLongList(part));
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
