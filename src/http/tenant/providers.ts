import type { ProviderId } from "../../protocol/identity/ids.ts";
import { parseProviderId } from "../../protocol/provider/provider-id.ts";
import { PROVIDER_FIELDS, type ProviderTerms } from "../../protocol/provider/tenant-provider.ts";
import { recordChange } from "./record-change.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Reads and writes the model providers of a tenant. */
export const PROVIDER_ROUTES: Routes = {
  "/v1/providers": {
    GET: { scope: "providers:read", handle: listProviders },
  },
  "/v1/providers/:id": {
    GET: { scope: "providers:read", handle: getProvider },
    PUT: { scope: "providers:write", handle: putProvider },
    DELETE: { scope: "providers:write", handle: deleteProvider },
  },
};

/** `GET /v1/providers`: all providers of the tenant, without their keys. */
async function listProviders({ principal, services }: AuthorisedRequest): Promise<Response> {
  const listed = await services.providers.list(principal.tenantId);
  const providers = listed.map(({ providerId, terms }) => viewOf(providerId, terms));
  return Response.json({ providers });
}

/** `GET /v1/providers/:id`: one provider, without its key. */
async function getProvider({ principal, services, id }: AuthorisedRequest): Promise<Response> {
  const providerId = parseProviderId(id);
  if (!providerId) return problem("provider_id_invalid");
  const found = await services.providers.find(principal.tenantId, providerId);
  if (!found.ok && found.failure.code === "unknown_provider") return problem("provider_not_found");
  return Response.json(viewOf(providerId, found.ok ? found.value : undefined));
}

function viewOf(id: ProviderId, terms: ProviderTerms | undefined) {
  return terms ? { id, status: "ready", ...terms } : { id, status: "unreadable" };
}

/** `PUT /v1/providers/:id`: stores or replaces a provider. No route ever returns its key. */
async function putProvider(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const providerId = parseProviderId(authorised.id);
  if (!providerId) return problem("provider_id_invalid");
  const body = await readJson(request, services.providerBody, PROVIDER_FIELDS);
  if (!body.ok) return body.failure;
  const put = await services.providers.put(principal.tenantId, providerId, body.value);
  if (put === "full") return problem("too_many_providers");
  return recordChange(authorised, { action: "provider.stored", providerId });
}

/** `DELETE /v1/providers/:id`: deletes a provider. Deleting an absent one succeeds too. */
async function deleteProvider(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const providerId = parseProviderId(id);
  if (!providerId) return problem("provider_id_invalid");
  await services.providers.remove(principal.tenantId, providerId);
  return recordChange(authorised, { action: "provider.removed", providerId });
}
