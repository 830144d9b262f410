import { publishContract } from "../../contracts/catalog/published-contract.ts";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { createToolCatalog, findTool } from "../../contracts/catalog/tool-catalog.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { narrowPolicy } from "../../protocol/policy/narrow.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { problem } from "../request/problem.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import type { Services } from "../services.ts";

/** Reads the tools of a tenant. */
export const TOOL_ROUTES: Routes = {
  "/v1/tools": { GET: { scope: "tools:read", handle: getTools } },
  "/v1/tools/:id": { GET: { scope: "tools:read", handle: getTool } },
};

/** `GET /v1/tools`: lists the tools that the tenant's policy shows to a model. */
async function getTools({ principal, services, contracts }: AuthorisedRequest): Promise<Response> {
  const policy = await policyOf(principal, services);
  const { tools } = createToolCatalog(specsOf(await contracts()), policy, {
    nowMs: services.clock.nowMs(),
  });
  return Response.json({
    tools: [...tools.values()].map(
      ({
        name,
        version,
        title,
        category,
        description,
        effect,
        sideEffectClass,
        lifecycle,
        inputSchema,
      }) => ({
        name,
        version,
        title,
        category,
        description,
        effect,
        sideEffectClass,
        lifecycle,
        inputSchema,
      }),
    ),
  });
}

/**
 * `GET /v1/tools/:id`: the contract of the version that the tenant uses, or of `?version=` if the
 * tenant may use that version. A denied tool gets the same answer as an unknown one.
 */
async function getTool(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const policy = await policyOf(principal, services);
  const contracts = await authorised.contracts();
  const spec = findTool(specsOf(contracts), policy, {
    toolId: id,
    version: new URL(request.url).searchParams.get("version") ?? undefined,
    nowMs: services.clock.nowMs(),
  });
  const registered = contracts.find((known) => known.spec === spec);
  if (!registered) return problem("tool_not_found");
  const published = await publishContract(registered);
  const etag = `"${published.interlock.contract_hash}"`;
  const headers = { etag, "cache-control": "private, no-cache" };
  // The header may hold several tags, and a proxy may have marked ours as weak.
  const isKnown = request.headers.get("if-none-match")?.includes(etag) ?? false;
  return isKnown
    ? new Response(null, { status: 304, headers })
    : Response.json(published, { headers });
}

/** Loads the policy of the tenant, narrowed to the tools of an embed token. */
async function policyOf({ tenantId, embed }: Principal, services: Services): Promise<ToolPolicy> {
  const { policy } = await services.policies.load(tenantId);
  return narrowPolicy(policy, embed?.toolIds);
}
