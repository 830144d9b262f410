import type { Context, Env as HonoEnv } from "hono";
import type { Principal, Scope } from "../protocol/principal.ts";
import { problem } from "./problem.ts";
import type { Services } from "./services.ts";

/** A request of a known caller who may do this. */
export interface Authorised {
  readonly request: Request;
  readonly principal: Principal;
  readonly services: Services;
  /** Path parameter `id`, or the empty text on a route that has none. */
  readonly id: string;
  /** Path parameter `invocationId`, or the empty text. */
  readonly invocationId: string;
}

/**
 * Lets a handler run for a principal with the scope; answers 401 or 403 for everyone else before the
 * body is read or any object wakes.
 */
export function forScope<E extends HonoEnv>(
  services: Services,
  scope: Scope,
  handle: (authorised: Authorised) => Promise<Response>,
): (context: Context<E>) => Promise<Response> {
  return async (context) => {
    const request = context.req.raw;
    const caller = await services.authenticator.authenticate(request);
    if (!caller.ok) {
      return problem(caller.failure.code, { headers: { "www-authenticate": "Bearer" } });
    }
    const principal = caller.value;
    if (!principal.scopes.includes(scope)) {
      return problem("insufficient_scope", { detail: `The scope ${scope} is needed.` });
    }
    const { id = "", invocationId = "" } = context.req.param() as Readonly<Record<string, string>>;
    return handle({ request, principal, services, id, invocationId });
  };
}
