import { decodeProtectedHeader } from "jose";
import type { Authenticator, TokenVerifier } from "../capabilities/identity.ts";
import { fail } from "../protocol/outcome/result.ts";
import { EMBED_TYPE } from "./embed-tokens.ts";
import { bearerToken } from "./static-token-authenticator.ts";

/** Longest signed token looked at, so that a huge header costs no work. */
const MAX_JWT_CHARS = 8_192;
/** Three parts with something in each; whatever they are. */
const LOOKS_SIGNED = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Who knows which kind of token. */
export interface BearerParts {
  /** Tokens that are in a list. */
  readonly listed: Authenticator;
  /** Tokens of the deployment's issuer, where it has one. */
  readonly issued?: TokenVerifier | undefined;
  /** Tokens of pages, which Interlock made. */
  readonly embedded: TokenVerifier;
}

/**
 * Knows principals by bearer tokens of three kinds. What a token says of its own kind chooses who
 * verifies it; each takes its own kind alone, under its own key.
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
      if (token.length > MAX_JWT_CHARS) return fail({ code: "invalid_token" });
      if (typeOf(token) === EMBED_TYPE) return embedded.verify(token);
      return issued ? issued.verify(token) : listed.authenticate(request);
    },
  };
}

/** Not verified yet: good for nothing but choosing who verifies. */
function typeOf(token: string): unknown {
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}
