const NAMES: ReadonlySet<string> = new Set([
  "connection",
  "cookie",
  "cookie2",
  "date",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "idempotency-key",
  "keep-alive",
  "last-event-id",
  "location",
  "origin",
  "range",
  "referer",
  "set-cookie",
  "set-cookie2",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-real-ip",
  "x-rewrite-url",
]);
const PREFIXES = ["accept", "cf-", "content-", "if-", "proxy-", "sec-", "x-forwarded-"];

/**
 * Tells whether a header steers a request: its routing, framing, sender or operation. The name must
 * be in lower case. A stored secret under such a name would steer the request instead of
 * authenticating it.
 */
export function isSteeringHeader(name: string): boolean {
  return NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}
