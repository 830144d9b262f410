import canonicalize from "canonicalize";
import type { JsonValue } from "./json.ts";

/** Writes a JSON value in the one form of RFC 8785. Fails: throws on what JSON cannot hold. */
export function toCanonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  return text;
}

/** Hashes a JSON value by its canonical form. Shape: `sha256:` and 64 lower-case hex digits. */
export async function hashOf(value: JsonValue): Promise<string> {
  const bytes = new TextEncoder().encode(toCanonicalJson(value));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
