import type { Authenticator } from "../capabilities/identity.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import { ok } from "../protocol/outcome/result.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Lets a developer in without a token. Exists only where `npm run dev` names a principal.
 * Threat: a web page open in the same browser. The request must be for a loopback host, which keeps a
 * rebound name out, and come from the same origin or from no page at all.
 * Limit: the local server takes the host from its own `MF-Original-URL` header, if there is one, so a
 * rebound page can still read, but not post: its requests to post carry its origin.
 */
export function createDevelopmentAuthenticator(
  principal: Principal,
  otherwise: Authenticator,
): Authenticator {
  return {
    async authenticate(request) {
      if (request.headers.has("authorization") || !isLocal(request)) {
        return otherwise.authenticate(request);
      }
      return ok(principal);
    },
  };
}

function isLocal(request: Request): boolean {
  const url = new URL(request.url);
  if (!LOOPBACK.has(url.hostname)) return false;
  const origin = request.headers.get("origin");
  if (origin !== null && origin !== url.origin) return false;
  const site = request.headers.get("sec-fetch-site");
  return site === null || site === "same-origin" || site === "none";
}
