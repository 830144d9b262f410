import * as v from "valibot";
import { parseJsonAs } from "./parse-json-as.ts";
import type { ConnectionId } from "./ids.ts";

/** Longest secret that is kept, in characters. */
export const MAX_SECRET_CHARS = 4096;

const PRINTABLE = "printable ASCII characters";

/** An id goes into storage keys and policies: short, printable, without separators. */
export const connectionId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, "an id of 1 to 64 of A-Z a-z 0-9 _ -"),
  v.transform((id) => id as ConnectionId),
);

/** Reads a connection id; undefined when the text is none. */
export function parseConnectionId(text: string): ConnectionId | undefined {
  const parsed = v.safeParse(connectionId, text);
  return parsed.success ? parsed.output : undefined;
}

/**
 * The body of `PUT /v1/connections/:id`, closed. Secrets are printable ASCII, so that no one of them can
 * end a header line and begin another.
 */
export const connectionBody = v.variant("kind", [
  v.strictObject({
    kind: v.literal("bearer"),
    token: v.pipe(
      v.string(),
      v.maxLength(MAX_SECRET_CHARS),
      v.regex(/^[\x21-\x7e]+$/, `${PRINTABLE}, without spaces`),
    ),
  }),
  v.strictObject({
    kind: v.literal("header"),
    name: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "the name of a header"),
      v.toLowerCase(),
      v.check(
        (name) => !isReservedHeader(name),
        "a header that authenticates, not one that steers",
      ),
    ),
    value: v.pipe(
      v.string(),
      v.maxLength(MAX_SECRET_CHARS),
      v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, `${PRINTABLE}, no space at either end`),
    ),
  }),
]);

/** Every field a body may name; whatever else a client wrote as a name may be the secret itself. */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set(["kind", "token", "name", "value"]);

/** A stored connection as it is before it is sealed: the secret itself. */
export type StoredConnection = v.InferOutput<typeof connectionBody>;

/** Reads an opened connection; undefined when the text is not exactly one. */
export function parseConnection(text: string): StoredConnection | undefined {
  return parseJsonAs(connectionBody, text);
}

/**
 * Headers that say where a request goes, how it is framed, who it comes from or which operation it is.
 * A stored one of these would steer the request instead of authenticating it.
 */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
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
const RESERVED_PREFIXES = ["accept", "cf-", "content-", "if-", "proxy-", "sec-", "x-forwarded-"];

function isReservedHeader(name: string): boolean {
  return RESERVED_HEADERS.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
