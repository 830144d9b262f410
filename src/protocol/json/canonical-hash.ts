import canonicalize from "canonicalize";
import { toHex } from "../text/hex.ts";
import type { JsonValue } from "./value.ts";

const UTF_8 = new TextEncoder();

/**
 * Writes a JSON value in canonical form (RFC 8785). Fails: throws on a value that JSON cannot hold.
 */
export function toCanonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return text;
}

/** Hashes the canonical form of a JSON value. Shape: `sha256:` and 64 lower-case hex digits. */
export function hashOf(value: JsonValue): Promise<string> {
  return hashText(toCanonicalJson(value));
}

/** Hashes text as UTF-8. For canonical JSON the result equals `hashOf` of the value. */
export async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", UTF_8.encode(text));
  return `sha256:${toHex(new Uint8Array(digest))}`;
}
