import { CompactSign, errors, jwtVerify, type JWTPayload } from "jose";
import * as v from "valibot";
import type { Clock } from "../../capabilities/system.ts";
import type { EmbedTokens, TokenVerifier } from "../../capabilities/identity.ts";
import { actorId, tenantId } from "../../protocol/identity/api-token.ts";
import { EMBED_SCOPES, embedFields, embedRoles } from "../../protocol/identity/embed-grant.ts";
import { ok } from "../../protocol/outcome/result.ts";
import { deriveKey } from "../keys/derive-key.ts";
import { refuseToken } from "./refuse-token.ts";

/** The type of embed tokens, and of no other token (RFC 8725, 3.11). */
export const EMBED_TYPE = "embed+jwt";

const ISSUER = "interlock";
const AUDIENCE = "interlock-embed";
const ALGORITHM = "HS256";
const MILLISECONDS = 1_000;

const claims = v.object({
  jti: v.string(),
  exp: v.number(),
  tenant: tenantId,
  sub: actorId,
  minter: actorId,
  scopes: v.array(v.picklist(EMBED_SCOPES)),
  roles: embedRoles,
  ...embedFields,
});

export interface EmbedPorts {
  readonly rootSecret: string;
  /** Verifies the tokens that it signed, during a rotation. */
  readonly olderSecret?: string | undefined;
  readonly clock: Clock;
  readonly randomId: () => string;
}

/** Mints and verifies embed tokens; nothing about a token is stored. */
export function createEmbedTokens(ports: EmbedPorts): EmbedTokens & TokenVerifier {
  const { clock, randomId } = ports;
  const { olderSecret } = ports;
  const key = deriveKey(ports.rootSecret, "embed-token");
  const readUnder = async (signed: string, verifying: Uint8Array): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(signed, verifying, {
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: [ALGORITHM],
      typ: EMBED_TYPE,
      currentDate: new Date(clock.nowMs()),
    });
    return payload;
  };
  const readClaims = async (signed: string): Promise<JWTPayload> => {
    try {
      return await readUnder(signed, await key);
    } catch (cause) {
      const isOther = cause instanceof errors.JWSSignatureVerificationFailed;
      if (!isOther || olderSecret === undefined) throw cause;
      return readUnder(signed, await deriveKey(olderSecret, "embed-token"));
    }
  };
  return {
    async mint({ tenantId: tenant, actorId: sub, minterId: minter, ttlSeconds, ...order }) {
      const { scopes, roles, origin, toolIds, budgets } = order;
      const { assistantId, connectionIds, model, workspaceId } = order;
      const iat = Math.floor(clock.nowMs() / MILLISECONDS);
      const exp = iat + ttlSeconds;
      const registered = { iss: ISSUER, aud: AUDIENCE, sub, jti: randomId(), iat, exp };
      const payload = {
        ...registered,
        tenant,
        minter,
        scopes,
        ...(roles.length > 0 && { roles }),
        origin,
        toolIds,
        ...(budgets && { budgets }),
        ...(assistantId !== undefined && { assistantId }),
        ...(connectionIds && { connectionIds }),
        ...(model !== undefined && { model }),
        ...(workspaceId !== undefined && { workspaceId }),
      };
      const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: ALGORITHM, typ: EMBED_TYPE })
        .sign(await key);
      return { token, expiresAtMs: exp * MILLISECONDS };
    },
    async verify(signed) {
      try {
        const token = v.parse(claims, await readClaims(signed));
        const { jti, tenant, sub, minter: minterId, scopes, roles, origin, toolIds } = token;
        const { budgets, assistantId, connectionIds, model, workspaceId } = token;
        const embed = {
          id: jti,
          minterId,
          origin,
          toolIds,
          ...(budgets && { budgets }),
          assistantId,
          ...(connectionIds && { connectionIds }),
          ...(model !== undefined && { model }),
          ...(workspaceId !== undefined && { workspaceId }),
        };
        return ok({ tenantId: tenant, actorId: sub, scopes, roles, embed });
      } catch (cause) {
        return refuseToken("the embed token", cause);
      }
    },
  };
}
