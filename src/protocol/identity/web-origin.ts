import * as v from "valibot";

/** Longest origin: a host name of 253 characters, its scheme and its port. */
const MAX_ORIGIN_CHARS = 267;
/** A host name without a final dot, or an address. URL parsers would accept a `*` in a name. */
const HOST = /^(?:(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])$/;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const AN_ORIGIN = "an exact origin: https://app.example, or http:// with a loopback host";

/**
 * An origin of a page as browsers write it in `Origin`: scheme, host, and the port unless it is the
 * default port. Nothing is normalised, because origins are compared as text: no path, no wildcard,
 * no `null`, no upper case, no final dot.
 */
export const webOrigin = v.pipe(
  v.string(),
  v.maxLength(MAX_ORIGIN_CHARS),
  v.check((text) => isWebOrigin(text), AN_ORIGIN),
);

/** Tells whether a text is an exact origin; see `webOrigin`. Contract: never throws. */
export function isWebOrigin(text: string): boolean {
  if (text.length > MAX_ORIGIN_CHARS || !URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  // The origin of a URL is the text `null` when its scheme has no origins.
  if (origin !== text || !HOST.test(hostname)) return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}

/** Prefix of the KV entries of an origin, one per tenant. An origin has no path, so `/` ends it. */
export function originKeyPrefix(origin: string): string {
  return `origin/${origin}/`;
}
