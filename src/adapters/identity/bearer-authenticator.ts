import { decodeProtectedHeader } from "jose";
import type { Authenticator, TokenVerifier } from "../../capabilities/identity.ts";
import { MAX_JWT_CHARS } from "../../protocol/identity/embed-grant.ts";
import { fail } from "../../protocol/outcome/result.ts";
import { EMBED_TYPE } from "./embed-tokens.ts";
import { bearerToken } from "./static-token-authenticator.ts";

const TOO_LONG = `the JWT has more than ${MAX_JWT_CHARS} characters`;
/** Three parts, separated by dots; the signature may be empty. */
const LOOKS_SIGNED = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** The verifier of each kind of token. */
export interface BearerParts {
  /** Tokens of the list API_TOKENS. */
  readonly listed: Authenticator;
  /** Tokens of the issuer in AUTH, if there is one. */
  readonly issued?: TokenVerifier | undefined;
  /** Embed tokens, which Interlock signed. */
  readonly embedded: TokenVerifier;
}

/**
 * Authenticates bearer tokens of three kinds. The unverified header of a token only chooses the
 * verifier. Each verifier accepts its own kind alone, under its own key.
 */
export function createBearerAuthenticator({
  listed,
  issued,
  embedded,
}: BearerParts): Authenticator {
  return {
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined || !LOOKS_SIGNED.test(token)) return listed.authenticate(request);
      if (token.length > MAX_JWT_CHARS) return fail({ code: "invalid_token", reason: TOO_LONG });
      if (typeOf(token) === EMBED_TYPE) return embedded.verify(token);
      return issued ? issued.verify(token) : listed.authenticate(request);
    },
  };
}

/** Reads the type from the unverified header; it may only choose the verifier. */
function typeOf(token: string): unknown {
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}
