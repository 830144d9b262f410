import * as v from "valibot";

/** Longest origin: a host name of 253 characters, its scheme and its port. */
const MAX_ORIGIN_CHARS = 267;
/** A name without a dot at its end, or an address; a `*` would be one to URL parsers. */
const HOST = /^(?:(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])$/;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const AN_ORIGIN = "an exact origin: https://app.example, or http:// with a loopback host";

/**
 * An origin of a page, as browsers spell it in `Origin`: scheme, host, and the port where it is not the
 * scheme's own. Nothing is normalised, so that what is compared is what was written: no path, no
 * wildcard, no `null`, no upper case, no dot at the end.
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
  // A URL says of itself that it is `null` where its scheme knows no origins.
  if (origin !== text || !HOST.test(hostname)) return false;
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}

/** Names the KV entries that say which tenants admit an origin; an origin holds no path, so it ends here. */
export function originKeyPrefix(origin: string): string {
  return `origin/${origin}/`;
}
