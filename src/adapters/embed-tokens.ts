import { base64url, jwtVerify } from "jose";
import * as v from "valibot";
import type { Clock } from "../capabilities/clock.ts";
import type { EmbedTokens } from "../capabilities/embed-tokens.ts";
import type { TokenVerifier } from "../capabilities/token-verifier.ts";
import { actorId, tenantId } from "../protocol/api-token.ts";
import { EMBED_SCOPES, embedFields } from "../protocol/embed-grant.ts";
import { fail, ok } from "../protocol/result.ts";

/** What a token of a page says of its kind, and no other token does (RFC 8725, 3.11). */
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
  scopes: v.array(v.picklist(EMBED_SCOPES)),
  ...embedFields,
});

export interface EmbedPorts {
  /** Its key is derived from this; nothing else is ever signed with what is derived. */
  readonly secret: string;
  readonly clock: Clock;
  readonly randomId: () => string;
}

/** Makes tokens for pages, and knows them again: nothing about them is stored. */
export function createEmbedTokens(ports: EmbedPorts): EmbedTokens & TokenVerifier {
  const { clock, randomId } = ports;
  const key = deriveKey(ports.secret);
  return {
    async mint({ tenantId: tenant, actorId: sub, ttlSeconds, scopes, origin, toolIds, budgets }) {
      const iat = Math.floor(clock.nowMs() / MILLISECONDS);
      const exp = iat + ttlSeconds;
      const registered = { iss: ISSUER, aud: AUDIENCE, sub, jti: randomId(), iat, exp };
      const said = { ...registered, tenant, scopes, origin, toolIds, ...(budgets && { budgets }) };
      const signed = `${encodePart({ alg: ALGORITHM, typ: EMBED_TYPE })}.${encodePart(said)}`;
      const signature = await crypto.subtle.sign("HMAC", await key, utf8(signed));
      const token = `${signed}.${base64url.encode(new Uint8Array(signature))}`;
      return { token, expiresAtMs: exp * MILLISECONDS };
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, await key, {
          issuer: ISSUER,
          audience: AUDIENCE,
          algorithms: [ALGORITHM],
          typ: EMBED_TYPE,
          currentDate: new Date(clock.nowMs()),
        });
        const { jti, tenant, sub, scopes, origin, toolIds, budgets } = v.parse(claims, payload);
        const embed = { id: jti, origin, toolIds, ...(budgets && { budgets }) };
        return ok({ tenantId: tenant, actorId: sub, scopes, roles: [], embed });
      } catch {
        return fail({ code: "invalid_token" });
      }
    },
  };
}

/** One part of a compact JWS (RFC 7515, 3.1). */
function encodePart(value: object): string {
  return base64url.encode(utf8(JSON.stringify(value)));
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text));
}

/** A key of its own (RFC 5869), so that no other use of the secret can be turned into a token. */
async function deriveKey(secret: string): Promise<CryptoKey> {
  const root = await crypto.subtle.importKey("raw", utf8(secret), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: utf8(""), info: utf8("embed-token") },
    root,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign", "verify"],
  );
}
