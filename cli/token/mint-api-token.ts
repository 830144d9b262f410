import { createHash, randomBytes } from "node:crypto";
import { parseApiTokens } from "../../src/protocol/identity/api-token.ts";
import { UsageError } from "../command.ts";

/** Whom a bearer token admits, and what the token allows. */
export interface ApiTokenOwner {
  readonly tenant: string;
  readonly actor: string;
  /** The user for whom the actor acts. */
  readonly subject: string | undefined;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
}

/**
 * Makes a bearer token, and its entry for the secret API_TOKENS: the entry holds only a hash.
 * Fails: throws a UsageError when the deployment would refuse the entry.
 */
export function mintApiToken({ tenant, actor, subject, scopes, roles }: ApiTokenOwner): {
  readonly token: string;
  readonly entry: object;
} {
  const token = `ilk_${randomBytes(32).toString("base64url")}`;
  const entry = {
    sha256: createHash("sha256").update(token).digest("hex"),
    tenantId: tenant,
    actorId: actor,
    ...(subject !== undefined && { subjectId: subject }),
    scopes,
    ...(roles.length > 0 && { roles }),
  };
  if (parseApiTokens(JSON.stringify([entry]))) return { token, entry };
  throw new UsageError("The tenant, the actor, a scope or a role is not of the expected form.");
}
