import type { Context, Env as HonoEnv } from "hono";
import type { AuthenticationFailure } from "../../capabilities/identity.ts";
import type { Principal, Scope } from "../../protocol/identity/principal.ts";
import { contractsFor } from "./contracts.ts";
import { checkOrigin, exposeTo, exposeToListed } from "./cors.ts";
import { problem } from "./problem.ts";
import { limitAddress, limitCaller } from "./rate.ts";
import type { Services } from "../services.ts";

/** What each method of each address does. */
export interface Routes {
  readonly [path: string]: { readonly [method in Method]?: Route };
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One method of one address. */
export interface Route {
  /** The scope that the caller needs. */
  readonly scope: Scope;
  /** Refuses embed tokens, whatever their scopes are. */
  readonly refusesEmbedTokens?: boolean;
  readonly handle: (request: AuthorisedRequest) => Promise<Response>;
  /** Gives the refusals of its address the shape that the clients of the address read. */
  readonly formatRefusal?: (refusal: Response) => Promise<Response>;
}

/** A request whose caller is known, has the route's scope and is within the rate limit. */
export interface AuthorisedRequest {
  readonly request: Request;
  readonly principal: Principal;
  readonly services: Services;
  /** Every contract, before policy: the same ones during the request. */
  readonly contracts: ReturnType<typeof contractsFor>;
  /** Path parameter `id`, or the empty text on a route that has none. */
  readonly id: string;
  /** Path parameter `invocationId`, or the empty text. */
  readonly invocationId: string;
  /** Path parameter `name`, or the empty text. */
  readonly name: string;
}

/**
 * Makes the handler of a route. It checks the token, the rate limit, the origin of the page and the
 * scope, in this order, before the body is read and before any object wakes.
 */
export function authorise<E extends HonoEnv>(
  services: Services,
  route: Route,
): (context: Context<E>) => Promise<Response> {
  return async (context) => {
    const request = context.req.raw;
    const caller = await services.authenticator.authenticate(request);
    if (!caller.ok) {
      const refusal = await refuseUnauthenticated(request, services, caller.failure);
      return exposeToListed(refusal, request, services);
    }
    const principal = caller.value;
    // Counts first, so that requests of foreign origins count as well.
    const tooMany = await limitCaller(principal, services);
    const origin = await checkOrigin(request, principal, services);
    if (!origin.ok) return tooMany ?? origin.failure;
    const parameters = context.req.param() as Readonly<Record<string, string>>;
    const { id = "", invocationId = "", name = "" } = parameters;
    const contracts = contractsFor(services, principal.tenantId);
    const response =
      tooMany ??
      checkScope(principal, route) ??
      (await route.handle({ request, principal, services, contracts, id, invocationId, name }));
    return origin.value === undefined ? response : exposeTo(origin.value, response);
  };
}

async function refuseUnauthenticated(
  request: Request,
  services: Services,
  { code, reason: detail }: AuthenticationFailure,
): Promise<Response> {
  if (code === "identity_unavailable") return problem(code, { headers: { "retry-after": "5" } });
  const tooMany = await limitAddress(request, services);
  if (!tooMany && detail !== undefined) {
    services.log.write({ level: "warn", code: "token_refused", detail });
  }
  return tooMany ?? problem(code, { headers: { "www-authenticate": "Bearer" } });
}

function checkScope({ scopes, embed }: Principal, route: Route): Response | undefined {
  const { scope, refusesEmbedTokens = false } = route;
  if (!scopes.includes(scope)) {
    return problem("insufficient_scope", { detail: `Use a token with scope ${scope}.` });
  }
  if (!embed || !refusesEmbedTokens) return undefined;
  const detail = `Embed tokens are not accepted here. Use a bearer token with scope ${scope}.`;
  return problem("insufficient_scope", { detail });
}
