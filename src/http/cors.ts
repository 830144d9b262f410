import { isWebOrigin } from "../protocol/identity/web-origin.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { problem } from "./problem.ts";
import { limitAddress } from "./rate.ts";
import type { Services } from "./services.ts";

/** How long a browser keeps the answer to a preflight. */
const PREFLIGHT_SECONDS = 600;
/** Headers that a page may send; browsers let it send a few harmless ones in any case. */
const TAKEN =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id";
/** Headers of an answer that a page may read. */
const SHOWN = "etag, retry-after, www-authenticate, x-run-id, x-wire";

/** Tells which other origin a request comes from; undefined for our own pages and for no page at all. */
function foreignOrigin(request: Request): string | undefined {
  const origin = request.headers.get("origin");
  return origin === null || origin === new URL(request.url).origin ? undefined : origin;
}

/**
 * Answers a browser that asks whether a page may make a request at all. Nobody is known yet, so this says
 * only that some tenant admits the origin; `checkOrigin` decides about the request itself. `refusal` is
 * what the address says to a method that it does not take; it names those that it does.
 */
export async function answerPreflight(
  request: Request,
  refusal: Response,
  services: Services,
): Promise<Response> {
  const origin = request.headers.get("origin");
  const methods = refusal.headers.get("allow");
  if (origin === null || methods === null) return refusal;
  if (!request.headers.has("access-control-request-method")) return refusal;
  if (!isWebOrigin(origin) || !(await services.origins.isListed(origin))) {
    return (await limitAddress(request, services)) ?? problem("origin_not_allowed");
  }
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": methods,
      "access-control-allow-headers": TAKEN,
      "access-control-max-age": `${PREFLIGHT_SECONDS}`,
      vary: "origin",
    },
  });
}

/**
 * Decides whether the page that sends a request may: its origin must be one of the principal's own tenant,
 * and a page's token is bound to one origin. The value is the origin to answer to, if it is a foreign one.
 * Contract: wakes no object.
 */
export async function checkOrigin(
  request: Request,
  principal: Principal,
  services: Services,
): Promise<Result<string | undefined, Response>> {
  const { embed, tenantId } = principal;
  const isBound = embed === undefined || embed.origin === request.headers.get("origin");
  if (!isBound) return fail(problem("origin_not_allowed"));
  const origin = embed?.origin ?? foreignOrigin(request);
  if (origin === undefined) return ok(undefined);
  const { policy } = await services.policies.load(tenantId);
  return policy.origins.includes(origin) ? ok(origin) : fail(problem("origin_not_allowed"));
}

/**
 * Lets a page of another origin read an answer that tells nothing of a tenant: a refused token, a file. What
 * a browser has kept for one page is not for the next.
 */
export async function exposeToListed(
  response: Response,
  request: Request,
  services: Services,
): Promise<Response> {
  const origin = foreignOrigin(request);
  const isListed =
    origin !== undefined && isWebOrigin(origin) && (await services.origins.isListed(origin));
  if (isListed) return exposeTo(origin, response);
  const shown = new Response(response.body, response);
  shown.headers.append("vary", "origin");
  return shown;
}

/**
 * Lets the page of an origin read an answer.
 * Contract: exactly this origin, never with credentials; the body is handed on as it is.
 */
export function exposeTo(origin: string, response: Response): Response {
  const shown = new Response(response.body, response);
  shown.headers.set("access-control-allow-origin", origin);
  shown.headers.set("access-control-expose-headers", SHOWN);
  shown.headers.append("vary", "origin");
  return shown;
}
