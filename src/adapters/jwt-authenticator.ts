import { jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import * as v from "valibot";
import type { Clock } from "../capabilities/system.ts";
import type { TokenVerifier } from "../capabilities/identity.ts";
import { actorId, scopeOrRole, tenantId } from "../protocol/identity/api-token.ts";
import type { JwtSettings } from "../protocol/identity/jwt-settings.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import { fail, ok } from "../protocol/outcome/result.ts";
import { JwksKeys, KeysUnavailable, type JwksPorts } from "./jwks-keys.ts";

/** Accepted token types; the type may be absent (RFC 7519, 5.1; RFC 9068, 2.1). */
const TYPES = new Set([undefined, "JWT", "jwt", "at+jwt", "application/at+jwt"]);

/**
 * Authenticates tokens that the configured issuer signed (RFC 7519). The token decides neither its
 * algorithm nor the source of its key. Any deviation from the expected form makes it invalid.
 */
export function createJwtAuthenticator(settings: JwtSettings, ports: JwksPorts): TokenVerifier {
  const { keys } = settings;
  const getKey: JWTVerifyGetKey =
    keys.kind === "jwks"
      ? new JwksKeys(keys.url, ports).resolver
      : () => Promise.resolve(keys.secret);
  return {
    async verify(token) {
      try {
        const claims = await readClaims(token, getKey, { settings, clock: ports.clock });
        const principal = claims && principalOf(claims, settings);
        return principal ? ok(principal) : fail({ code: "invalid_token" });
      } catch (cause) {
        // The response says that the token is invalid, but not why.
        const isUnavailable = cause instanceof KeysUnavailable;
        return fail({ code: isUnavailable ? "identity_unavailable" : "invalid_token" });
      }
    },
  };
}

interface Reading {
  readonly settings: JwtSettings;
  readonly clock: Clock;
}

/** Verifies the token. Fails: throws on a wrong signature, issuer, audience or time. */
async function readClaims(
  token: string,
  getKey: JWTVerifyGetKey,
  { settings, clock }: Reading,
): Promise<JWTPayload | undefined> {
  const { issuer, audience, algorithms, clockToleranceSeconds, maxAgeSeconds } = settings;
  const nowMs = clock.nowMs();
  const { payload, protectedHeader } = await jwtVerify(token, getKey, {
    issuer,
    audience,
    algorithms: [...algorithms],
    clockTolerance: clockToleranceSeconds,
    currentDate: new Date(nowMs),
    ...(maxAgeSeconds !== undefined && { maxTokenAge: maxAgeSeconds }),
  });
  // No extension is understood here, so none may be critical (RFC 7515, 4.1.11).
  if (protectedHeader.crit !== undefined || !TYPES.has(protectedHeader.typ)) return undefined;
  const latest = nowMs / 1_000 + clockToleranceSeconds;
  // The library accepts a token without `exp`, and one whose `exp` is no finite number.
  const isCurrent = Number.isFinite(payload.exp) && (payload.iat ?? 0) <= latest;
  return isCurrent ? payload : undefined;
}

const person = v.pipe(
  v.string(),
  v.transform((name) => asActor(name, "user")),
  actorId,
);
/** The actor who acts for the person (RFC 8693, 4.1). A chain of actors is refused. */
const acting = v.object({
  sub: v.pipe(
    v.string(),
    v.transform((name) => asActor(name, "agent")),
    actorId,
  ),
  act: v.optional(v.undefined()),
});
/** Scopes or roles: a text with spaces, or a list. Malformed ones grant nothing and are dropped. */
const names = v.pipe(
  v.optional(v.union([v.string(), v.array(v.string())]), []),
  v.transform((claim) => (typeof claim === "string" ? claim.split(" ") : claim)),
  v.transform((names) => [...new Set(names)].filter((text) => v.is(scopeOrRole, text))),
);

function principalOf(payload: JWTPayload, settings: JwtSettings): Principal | undefined {
  const claim = (name: string): unknown =>
    Object.hasOwn(payload, name) ? payload[name] : undefined;
  const tenant = v.safeParse(tenantId, claim(settings.tenantClaim));
  const subject = v.safeParse(person, claim(settings.subjectClaim));
  const roles = v.safeParse(names, claim(settings.rolesClaim));
  const scopes = v.safeParse(names, claim(settings.scopesClaim));
  const actor = v.safeParse(v.optional(acting), claim("act"));
  if (!tenant.success || !subject.success || !roles.success) return undefined;
  if (!scopes.success || !actor.success) return undefined;
  const shared = { tenantId: tenant.output, roles: roles.output, scopes: scopes.output };
  return actor.output
    ? { ...shared, actorId: actor.output.sub, subjectId: subject.output }
    : { ...shared, actorId: subject.output };
}

function asActor(name: string, kind: "user" | "agent"): string {
  return /^(?:user|agent|service):/.test(name) ? name : `${kind}:${name}`;
}
