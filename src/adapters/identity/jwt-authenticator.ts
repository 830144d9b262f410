import { jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../../capabilities/system.ts";
import type { TokenVerifier } from "../../capabilities/identity.ts";
import type { Log } from "../../capabilities/log.ts";
import type { JwtSettings } from "../../protocol/identity/jwt-settings.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { readPrincipal } from "../../protocol/identity/token-claims.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import { JwksKeys, KeysUnavailable, type JwksPorts } from "./jwks-keys.ts";
import { refuseToken } from "./refuse-token.ts";

/** Accepted token types; the type may be absent (RFC 7519, 5.1; RFC 9068, 2.1). */
const TYPES = new Set([undefined, "JWT", "jwt", "at+jwt", "application/at+jwt"]);

/**
 * Authenticates tokens that the configured issuer signed (RFC 7519). The token decides neither its
 * algorithm nor the source of its key. Any deviation from the expected form makes it invalid.
 */
export function createJwtAuthenticator(
  settings: JwtSettings,
  ports: JwksPorts & { readonly log: Log },
): TokenVerifier {
  const { keys } = settings;
  const told = new Set<string>();
  const getKey: JWTVerifyGetKey =
    keys.kind === "jwks"
      ? new JwksKeys(keys.url, ports).resolver
      : () => Promise.resolve(keys.secret);
  return {
    async verify(token) {
      try {
        const claims = await readClaims(token, getKey, { settings, clock: ports.clock });
        const found = claims ? readPrincipal(claims, settings) : fail(NOT_ACCEPTED);
        if (!found.ok) return refuseToken("the JWT", found.failure);
        const { principal, unknown } = found.value;
        if (unknown.length > 0 && isFirst(told, token)) tellUnknown(ports.log, principal, unknown);
        return ok(principal);
      } catch (cause) {
        // The response says that the token is invalid, but not why.
        if (cause instanceof KeysUnavailable) return fail({ code: "identity_unavailable" });
        return refuseToken("the JWT", cause);
      }
    },
  };
}

const NOT_ACCEPTED = "has no exp, an iat in the future, or a header that is not accepted";

/** Tokens of which the isolate remembers that the log has their unknown groups. */
const MAX_TOLD = 1_000;

function isFirst(told: Set<string>, token: string): boolean {
  // The signature tells tokens apart, and is of no use without the rest.
  const signature = token.slice(token.lastIndexOf("."));
  if (told.has(signature)) return false;
  if (told.size >= MAX_TOLD) told.clear();
  told.add(signature);
  return true;
}

/** Most groups that a line names, and how much of each. */
const MAX_NAMED = 10;
const MAX_NAME_CHARS = 64;

/** Writes roles and groups that give nothing, which would be a riddle for the person otherwise. */
function tellUnknown(log: Log, { tenantId }: Principal, unknown: readonly string[]): void {
  const named = unknown.slice(0, MAX_NAMED).map((name) => {
    return `"${name.slice(0, MAX_NAME_CHARS).replaceAll(/[^ -~]|"/g, "?")}"`;
  });
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : "";
  const detail = `a token has roles or groups that give nothing: ${named.join(", ")}${more}`;
  log.write({ level: "warn", code: "groups_unknown", tenantId, detail });
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
