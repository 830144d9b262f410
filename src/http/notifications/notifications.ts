import * as v from "valibot";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { answerPage, parameters, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";

/** Lists what the receiver of a tenant does not have. It tells of runs of all people. */
export const NOTIFICATION_ROUTES: Routes = {
  "/v1/notifications": {
    GET: { scope: "runs:operate", refusesEmbedTokens: true, handle: getNotifications },
  },
  "/v1/notifications/:id/retry": {
    POST: { scope: "runs:operate", refusesEmbedTokens: true, handle: retryNotification },
  },
};

export const query = v.strictObject({
  state: v.optional(v.picklist(["waiting", "dead"])),
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/notifications`: lists what was not delivered, the oldest first. */
async function getNotifications(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  return answerPage(authorised, {
    name: "notifications",
    query: read.value,
    list: (tenantId, filters) => services.notifications.list(tenantId, filters),
  });
}

/** `POST /v1/notifications/:id/retry`: tries at once, and from the first delay again. */
async function retryNotification(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const isKnown = await services.notifications.retry(principal.tenantId, id);
  return isKnown ? new Response(null, { status: 202 }) : problem("notification_not_found");
}
