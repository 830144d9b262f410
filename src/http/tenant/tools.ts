import { publishContract } from "../../contracts/catalog/published-contract.ts";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { createToolCatalog, findTool } from "../../contracts/catalog/tool-catalog.ts";
import { boundAssistant } from "../../protocol/identity/embed-grant.ts";
import type { ConnectionId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import type { ToolUser } from "../../protocol/policy/may-use.ts";
import { isMember, soleWorkspace } from "../../protocol/policy/membership.ts";
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

/** `GET /v1/tools`: lists the tools that a model may see in a run of the caller. */
async function getTools({ principal, services, contracts }: AuthorisedRequest): Promise<Response> {
  const policy = await policyOf(principal, services);
  const { tools } = createToolCatalog(specsOf(await contracts()), policy, {
    nowMs: services.clock.nowMs(),
    user: userOf(principal, policy),
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
    caller: userOf(principal, policy),
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

/**
 * Loads the policy of the tenant, narrowed to the tools of an embed token. A caller without such a
 * token may start runs with any assistant, so the rules about assistants hide nothing.
 */
async function policyOf({ tenantId, embed }: Principal, services: Services): Promise<ToolPolicy> {
  const { policy } = await services.policies.load(tenantId);
  const narrowed = narrowPolicy(policy, embed?.toolIds);
  if (embed) return narrowed;
  const callers = policy.callers.map((rule) => Object.assign({}, rule, { assistants: undefined }));
  return { ...narrowed, callers };
}

/** The caller, with every connection and one workspace that its runs can name. */
function userOf(principal: Principal, policy: ToolPolicy): ToolUser {
  const { embed } = principal;
  const granted = policy.grants.map(({ connectionId }) => connectionId as ConnectionId);
  return {
    ...principal,
    assistantId: boundAssistant(embed),
    models: [],
    connectionIds: embed?.connectionIds ?? granted,
    workspaceId: embed
      ? (embed.workspaceId ?? soleWorkspace(policy, principal))
      : Object.keys(policy.workspaces).find((id) => isMember(policy, id, principal)),
  };
}
