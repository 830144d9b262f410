import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";
import type { ConnectionId } from "../identity/ids.ts";
import { isSteeringHeader } from "./steering-header.ts";

/** Longest secret, in characters. */
export const MAX_SECRET_CHARS = 4096;

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

/**
 * The closed schema of the body of `PUT /v1/connections/:id`. Secrets are printable ASCII, so that
 * no secret can end a header line and start another.
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
        (name) => !isSteeringHeader(name),
        "a header that authenticates, not one that controls the request",
      ),
    ),
    value: v.pipe(
      v.string(),
      v.maxLength(MAX_SECRET_CHARS),
      v.regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, `${PRINTABLE}, no space at either end`),
    ),
  }),
]);

/** All fields of the body. Any other field name that a client sends may be the secret itself. */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set(["kind", "token", "name", "value"]);

/** A stored connection before it is sealed: the secret itself. */
export type StoredConnection = v.InferOutput<typeof connectionBody>;

/** Reads an opened connection; undefined when the text is no valid connection. */
export function parseConnection(text: string): StoredConnection | undefined {
  return parseJsonAs(connectionBody, text);
}
