import type { Authenticator } from "../../capabilities/identity.ts";
import type { ApiToken } from "../../protocol/identity/api-token.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import { fromHex, sameBytes } from "../keys/bytes.ts";

/** Longest token that is hashed, so that a huge header costs no work. */
const MAX_TOKEN_CHARS = 512;

/** Authenticates static bearer tokens. It knows only the hashes of the tokens. */
export function createStaticTokenAuthenticator(tokens: readonly ApiToken[]): Authenticator {
  const known = tokens.map(({ sha256, ...principal }) => ({
    hash: fromHex(sha256),
    principal,
  }));
  return {
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === undefined) return fail({ code: "missing_token" });
      if (token.length > MAX_TOKEN_CHARS) return fail({ code: "invalid_token" });
      const hash = new Uint8Array(
        await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)),
      );
      let match: Principal | undefined;
      // Compares every entry, so that timing does not reveal which one matches.
      for (const entry of known) if (sameBytes(entry.hash, hash)) match = entry.principal;
      const reason = "API_TOKENS has no entry with the hash of this token";
      return match ? ok(match) : fail({ code: "invalid_token", reason });
    },
  };
}

/** Reads the token of an `Authorization: Bearer` header. */
export function bearerToken(request: Request): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
}
