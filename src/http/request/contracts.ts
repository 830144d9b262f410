import { loadTools } from "../../contracts/catalog/load-tools.ts";
import type { RegisteredContract } from "../../contracts/catalog/registered.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { Services } from "../services.ts";
import { problem } from "./problem.ts";

/** The contracts of a deployment cannot be read. The HTTP edge answers it as a problem. */
export class ToolsUnavailable extends Error {}

/**
 * Asks for the contracts of the deployment when a route first needs them, once per request.
 * Fails: rejects with ToolsUnavailable.
 */
export function contractsFor(
  services: Services,
  tenantId: TenantId,
): () => Promise<readonly RegisteredContract[]> {
  let asked: Promise<readonly RegisteredContract[]> | undefined;
  return () => (asked ??= load(services, tenantId));
}

async function load(
  services: Services,
  tenantId: TenantId,
): Promise<readonly RegisteredContract[]> {
  const contracts = await loadTools(services, tenantId);
  if (!contracts) throw new ToolsUnavailable();
  return contracts;
}

/** Answers a request whose tools cannot be read. */
export function refuseTools(): Response {
  return problem("tools_unavailable", { headers: { "retry-after": "5" } });
}
