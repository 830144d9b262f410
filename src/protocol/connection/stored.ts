import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";
import type { ConnectionId } from "../identity/ids.ts";
import { type AddressRules, parseServiceAddress } from "./service-address.ts";
import { isSteeringHeader } from "./steering-header.ts";

/** Longest secret, in characters. */
export const MAX_SECRET_CHARS = 4096;
const MAX_ADDRESS_CHARS = 2048;
/** A key of 24 to 64 bytes, as receivers of signed webhooks know it. */
const WEBHOOK_SECRET =
  /^whsec_(?=[A-Za-z0-9+/=]{32,88}$)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const PRINTABLE = "printable ASCII characters";

/**
 * A connection id. It is part of storage keys and policies: short, printable, without separators.
 */
export const connectionId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, "an id of 1 to 64 of A-Z a-z 0-9 _ -"),
  v.transform((id) => id as ConnectionId),
);

/** Reads a connection id; undefined when the text is no valid id. */
export function parseConnectionId(text: string): ConnectionId | undefined {
  const parsed = v.safeParse(connectionId, text);
  return parsed.success ? parsed.output : undefined;
}

const bearer = v.strictObject({
  kind: v.literal("bearer"),
  token: v.pipe(
    v.string(),
    v.maxLength(MAX_SECRET_CHARS),
    v.regex(/^[\x21-\x7e]+$/, `${PRINTABLE}, without spaces`),
  ),
});

const header = v.strictObject({
  kind: v.literal("header"),
  name: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, "the name of a header"),
    v.check(
      (name) => !isSteeringHeader(name.toLowerCase()),
      "a header that authenticates, not one that controls the request",
    ),
    v.transform((name) => name.toLowerCase()),
  ),
  value: v.pipe(
    v.string(),
    v.maxLength(MAX_SECRET_CHARS),
    v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, `${PRINTABLE}, no space at either end`),
  ),
});

/** Where notifications go, and what signs them; see docs/notifications.md. */
const webhookOf = (rules: AddressRules) =>
  v.strictObject({
    kind: v.literal("webhook"),
    address: v.pipe(
      v.string(),
      v.maxLength(MAX_ADDRESS_CHARS),
      v.transform((text) => parseServiceAddress(text, rules)),
      v.string("a public https address with a host name, and no credentials, query or fragment"),
    ),
    secret: v.pipe(
      v.string(),
      v.regex(WEBHOOK_SECRET, "whsec_ and 24 to 64 random bytes in base64"),
    ),
  });

/**
 * Makes the closed schema of the body of `PUT /v1/connections/:id`. Secrets are printable ASCII, so
 * that no secret can end a header line and start another.
 */
export function connectionBody(rules: AddressRules) {
  return v.variant("kind", [bearer, header, webhookOf(rules)]);
}

/** All fields of the body. Any other field name that a client sends may be the secret itself. */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set(
  [bearer, header, webhookOf({ allowsLoopback: false })].flatMap(({ entries }) =>
    Object.keys(entries),
  ),
);

/** A stored connection before it is sealed: the secret itself. */
export type StoredConnection = v.InferOutput<ReturnType<typeof connectionBody>>;
/** Credentials of a service that tools call. */
export type ServiceConnection = Exclude<StoredConnection, { readonly kind: "webhook" }>;
/** Where notifications go, and what signs them. */
export type WebhookConnection = Extract<StoredConnection, { readonly kind: "webhook" }>;

/** Reads an opened connection; undefined when its form or its address is not allowed. */
export function parseConnection(text: string, rules: AddressRules): StoredConnection | undefined {
  return parseJsonAs(connectionBody(rules), text);
}
