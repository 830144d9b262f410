import { createToolCatalog } from "../contracts/tool-catalog.ts";
import type { Authorised } from "./routes.ts";

/** `GET /v1/tools`: what the tenant's policy lets a model see. */
export async function getTools({ principal, services }: Authorised): Promise<Response> {
  const { policy } = await services.policies.load(principal.tenantId);
  const { tools } = createToolCatalog(services.toolSpecs, policy, {
    nowMs: services.clock.nowMs(),
  });
  return Response.json({
    tools: [...tools.values()].map(({ name, version, description, effect, inputSchema }) => ({
      name,
      version,
      description,
      effect,
      inputSchema,
    })),
  });
}
