import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { SignJWT } from "jose";

export const JWT_USAGE =
  "Usage: interlock token jwt --issuer URL --audience NAME --secret-file FILE --tenant ID\n" +
  "         --subject NAME [--agent NAME] [--scopes chat,runs:read,tools:read]\n" +
  "         [--roles approver,...] [--ttl SECONDS]";

/**
 * Makes a bearer JWT with a shared secret, for a deployment whose AUTH names HS256. The claims have
 * their default names. Fails: throws an error that says which argument is wrong.
 */
export async function mintJwt(args: readonly string[]): Promise<string> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      issuer: text,
      audience: text,
      "secret-file": text,
      tenant: text,
      subject: text,
      agent: text,
      scopes: { ...text, default: "chat,runs:read,tools:read" },
      roles: text,
      ttl: { ...text, default: "3600" },
    },
  });
  const {
    issuer,
    audience,
    "secret-file": file,
    tenant,
    subject,
    agent,
    scopes,
    roles,
    ttl,
  } = values;
  if (!issuer || !audience || !file || !tenant || !subject)
    throw new Error("Something is missing.");
  const seconds = Number(ttl);
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error("--ttl takes whole seconds.");
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({
    tenant,
    scope: scopes.split(","),
    ...(roles !== undefined && { roles: roles.split(",") }),
    ...(agent !== undefined && { act: { sub: agent } }),
  })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(now)
    .setExpirationTime(now + seconds)
    .sign(new TextEncoder().encode(readFileSync(file, "utf8").trimEnd()));
}
