import type { Authenticator } from "../capabilities/identity.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import { ok } from "../protocol/outcome/result.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Authenticates a developer without a token. Used only where `npm run dev` names a principal.
 * Threat: a hostile web page in the developer's browser. The request must go to a loopback host,
 * which blocks DNS rebinding, and come from the same origin or from no page.
 * Limit: the local server reads the host from the header `MF-Original-URL` if it is present. A
 * rebound page can therefore still read. It cannot post, because its POST requests carry its
 * origin.
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
