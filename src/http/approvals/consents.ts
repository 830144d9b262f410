import * as v from "valibot";
import type { ConsentView } from "../../protocol/consent/consent.ts";
import { boundAssistant } from "../../protocol/identity/embed-grant.ts";
import { MAX_ACTOR_CHARS, type ActorId } from "../../protocol/identity/ids.ts";
import { seesAll, type Principal } from "../../protocol/identity/principal.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { answerPage, parameters, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";

/** Lists and ends consents that last. An embed token reaches those of its person and assistant. */
export const CONSENT_ROUTES: Routes = {
  "/v1/consents": { GET: { scope: "approvals:read", handle: getConsents } },
  "/v1/consents/:id": { DELETE: { scope: "approvals:decide", handle: deleteConsent } },
};

export const query = v.strictObject({
  person: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_ACTOR_CHARS))),
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/consents`: lists the consents of the caller, or of a person of the tenant. */
async function getConsents(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const own = ownOf(principal);
  const person = (read.value.person ?? own.person) as ActorId;
  if (person !== own.person && !seesAll(principal)) {
    const detail = "Use a token with scope runs:read_all, or leave `person` out.";
    return problem("insufficient_scope", { detail });
  }
  return answerPage(authorised, {
    name: "consents",
    query: read.value,
    sees: { ...own, person },
    list: (tenantId, filters) => services.consents.list(tenantId, { ...filters, ...own, person }),
    show: withLink,
  });
}

/** `DELETE /v1/consents/:id`: ends a consent. Ending it again answers the same. */
async function deleteConsent(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const { tenantId, actorId: by, scopes } = principal;
  const isOperator = scopes.includes("runs:operate") && !principal.embed;
  const of = isOperator ? undefined : ownOf(principal);
  const revoked = await services.consents.revoke(tenantId, { id, by, ...(of && { of }) });
  return revoked ? Response.json(withLink(revoked)) : problem("consent_not_found");
}

/** An actor that acts for a person has no part in what the person consented to. */
function ownOf({ actorId, embed }: Principal): { person: ActorId; assistantId?: string } {
  const assistantId = boundAssistant(embed);
  return { person: actorId, ...(assistantId !== undefined && { assistantId }) };
}

function withLink(consent: ConsentView): ConsentView & { readonly href: string } {
  return { ...consent, href: `/v1/approvals/${consent.approvalId}` };
}
