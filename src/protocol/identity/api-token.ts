import * as v from "valibot";
import type { ActorId, TenantId } from "./ids.ts";
import { parseJsonAs } from "../json/parse-as.ts";
import { findSecret } from "../secrets/secret-shapes.ts";

/** A tenant id. It is part of storage keys and run ids: short, printable, without separators. */
export const tenantId = v.pipe(
  v.string(),
  v.regex(/^[a-zA-Z0-9_-]{1,64}$/),
  v.transform((id) => id as TenantId),
);
/** What an actor id is, for people. */
export const ACTOR_FORM = "1 to 255 of A-Z a-z 0-9 _ . @ | + : / = ~ # -";

/**
 * An actor id: kind and name. It is part of keys, addresses and records. Its characters need no
 * escape in JSON, HTML and headers; addresses encode it.
 * Threat: a quote, a space, a `%` or a letter that looks like another one, so that an id breaks out
 * of its place or two people share one. Records mask what looks like a secret, so such an id would
 * name nobody.
 */
export const actorId = v.pipe(
  v.string(),
  v.regex(/^(?:user|agent|service):(?!(?:user|agent|service):)[\w.@|+:/=~#-]{1,255}$/),
  v.check((id) => findSecret(id) === undefined),
  v.transform((id) => id as ActorId),
);

/** Adds the kind to a name that has none. */
export function toActor(name: string, kind: "user" | "agent"): string {
  return /^(?:user|agent|service):/.test(name) ? name : `${kind}:${name}`;
}

/** A scope or a role. */
export const scopeOrRole = v.pipe(v.string(), v.regex(/^[a-z0-9_.:-]{1,64}$/));

/** A principal as configuration writes it. */
export const principal = v.strictObject({
  tenantId,
  actorId,
  subjectId: v.optional(actorId),
  scopes: v.array(scopeOrRole),
  roles: v.optional(v.array(scopeOrRole), []),
});

const apiTokens = v.array(
  v.strictObject({
    ...principal.entries,
    /** SHA-256 of the token in lower-case hex; the token itself is stored nowhere. */
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  }),
);

/** One static bearer token: its hash and its principal. */
export type ApiToken = v.InferOutput<typeof apiTokens>[number];

/** Reads the list of tokens; undefined when the text is no valid list. */
export function parseApiTokens(text: string): readonly ApiToken[] | undefined {
  return parseJsonAs(apiTokens, text);
}
