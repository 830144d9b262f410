import { isWebOrigin } from "../../protocol/identity/web-origin.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { problem } from "./problem.ts";
import { limitAddress } from "./rate.ts";
import type { Services } from "../services.ts";

/** How long a browser caches the answer to a preflight. */
const PREFLIGHT_SECONDS = 600;
/** Request headers that a page may send, besides those that browsers always allow. */
const REQUEST_HEADERS =
  "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id";
/** Response headers that a page may read. */
const RESPONSE_HEADERS =
  "etag, retry-after, www-authenticate, x-vercel-ai-ui-message-stream, x-run-id, x-conversation-id, x-wire";

/** Reads the origin of a page of another site; undefined for our own pages and without a page. */
function foreignOrigin(request: Request): string | undefined {
  const origin = request.headers.get("origin");
  return origin === null || origin === new URL(request.url).origin ? undefined : origin;
}

/**
 * Answers a preflight. A preflight carries no token, so the answer only says that some tenant
 * allows the origin. `checkOrigin` decides about the request itself. `refusal` is the answer of the
 * address to an unknown method; its header `allow` names the methods.
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
      "access-control-allow-headers": REQUEST_HEADERS,
      "access-control-max-age": `${PREFLIGHT_SECONDS}`,
      vary: "origin",
    },
  });
}

/**
 * Checks the origin of the page that sends a request. The policy of the principal's tenant must
 * list the origin, and an embed token is bound to one origin. The value is the origin that may read
 * the response; undefined for our own pages and without a page.
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
 * Lets a page of a listed origin read a response without tenant data: a refused token or a file.
 * The response varies by origin, so a browser reuses no cached copy for another page.
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
 * Lets pages of one origin read a response.
 * Contract: exactly this origin, and never with credentials; passes the body through unchanged.
 */
export function exposeTo(origin: string, response: Response): Response {
  const shown = new Response(response.body, response);
  shown.headers.set("access-control-allow-origin", origin);
  shown.headers.set("access-control-expose-headers", RESPONSE_HEADERS);
  shown.headers.append("vary", "origin");
  return shown;
}
