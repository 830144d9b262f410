import type { Context, Env as HonoEnv } from "hono";
import type { AuthenticationFailure } from "../capabilities/identity.ts";
import type { Principal, Scope } from "../protocol/identity/principal.ts";
import { admitOrigin, showTo, showToListed } from "./cors.ts";
import { problem } from "./problem.ts";
import { countCaller, countStranger } from "./rate.ts";
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
 * Lets a handler run for a principal with the scope, whose page's origin its tenant admits, and who has not
 * asked too often; answers everyone else before the body is read or any object wakes.
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
      const refusal = await refuseStranger(request, services, caller.failure);
      return showToListed(refusal, request, services);
    }
    const principal = caller.value;
    const admitted = await admitOrigin(request, principal, services);
    if (!admitted.ok) return admitted.failure;
    const { id = "", invocationId = "" } = context.req.param() as Readonly<Record<string, string>>;
    const response =
      (await countCaller(principal, services)) ??
      lacksScope(principal, scope) ??
      (await handle({ request, principal, services, id, invocationId }));
    return admitted.value === undefined ? response : showTo(admitted.value, response);
  };
}

/**
 * Keeps a handler from the tokens of pages, whatever their scopes say: lists tell of more than a page's own,
 * and what a page holds makes no further tokens.
 */
export function notForPages(
  handle: (authorised: Authorised) => Promise<Response>,
): (authorised: Authorised) => Promise<Response> {
  return async (authorised) => {
    if (!authorised.principal.embed) return handle(authorised);
    return problem("insufficient_scope", { detail: "A page's token does not do for this." });
  };
}

async function refuseStranger(
  request: Request,
  services: Services,
  { code }: AuthenticationFailure,
): Promise<Response> {
  if (code === "identity_unavailable") return problem(code, { headers: { "retry-after": "5" } });
  const tooMany = await countStranger(request, services);
  return tooMany ?? problem(code, { headers: { "www-authenticate": "Bearer" } });
}

function lacksScope({ scopes }: Principal, scope: Scope): Response | undefined {
  if (scopes.includes(scope)) return undefined;
  return problem("insufficient_scope", { detail: `The scope ${scope} is needed.` });
}
