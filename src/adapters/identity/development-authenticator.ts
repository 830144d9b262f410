import type { Authenticator } from "../../capabilities/identity.ts";
import {
  ACTING_HEADER,
  DEVELOPER_HEADER,
  type Development,
} from "../../protocol/identity/development.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { ok } from "../../protocol/outcome/result.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface DevelopmentPorts {
  /** Knows the callers with tokens. */
  readonly otherwise: Authenticator;
  /** Every scope that the API, a tool or the tenant's policy may ask for. */
  readonly allScopes: (tenantId: TenantId) => Promise<readonly string[]>;
}

/**
 * Authenticates people without a token. Used only where `npm run dev` names them. A request without
 * a name is the first person's.
 * Threat: a hostile web page in the developer's browser. The request must go to a loopback host,
 * which blocks DNS rebinding, and come from the same origin or from no page.
 * Threat: the local server of the platform reads the host from the header `MF-Original-URL`, which
 * a rebound page can send. So the request must carry the secret of the development server, which
 * checks the real host first (cli/development/front.ts).
 */
export function createDevelopmentAuthenticator(
  { people, secret }: Development,
  { otherwise, allScopes }: DevelopmentPorts,
): Authenticator {
  return {
    async authenticate(request) {
      const isAdmitted = request.headers.get(DEVELOPER_HEADER) === secret && isLocal(request);
      if (request.headers.has("authorization") || !isAdmitted) {
        return otherwise.authenticate(request);
      }
      const acting = request.headers.get(ACTING_HEADER);
      const person = acting === null ? people[0] : people.find((one) => one.actorId === acting);
      if (!person) return otherwise.authenticate(request);
      return ok({ ...person, scopes: person.scopes ?? (await allScopes(person.tenantId)) });
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
