import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { findProtoKey, nestsTooDeep } from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import type { MaskValues } from "../../protocol/secrets/mask-values.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";

/** Larger states are more than a person reads. */
const MAX_STATE_BYTES = 32 * 1024;

/**
 * Reads a state that an author's function answered, as plain JSON; null for a value that is no
 * state. Fails: throws for a cycle and for a getter that throws.
 */
export function readState(state: unknown): JsonObject | null {
  if (!isJsonObject(state)) return null;
  const text = JSON.stringify(state);
  if (typeof text !== "string" || nestsTooDeep(text)) return null;
  const plain: unknown = JSON.parse(text);
  return isJsonObject(plain) && !findProtoKey(plain) ? plain : null;
}

/**
 * Keeps the allowlisted fields of a state, without the secrets of the connection; null for a state
 * that is too large.
 */
export function showState(
  { tool, mask }: { readonly tool: BoundToolRuntime; readonly mask: MaskValues },
  state: JsonObject,
): JsonObject | null {
  const shown = mask(tool.redactState(replaceHalves(state)));
  return utf8Bytes(JSON.stringify(shown)) <= MAX_STATE_BYTES ? shown : null;
}
