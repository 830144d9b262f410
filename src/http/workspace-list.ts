import { isMember, soleWorkspace } from "../protocol/policy/membership.ts";
import type { AuthorisedRequest } from "./authorise.ts";

/**
 * `GET /v1/workspaces`: lists the workspaces of which the caller is a member, each under every name
 * that the deployment has. An embed token sees the one that its runs use.
 */
export async function listWorkspaces(
  { principal, services }: AuthorisedRequest,
  names: ReadonlySet<string>,
): Promise<Response> {
  const { policy } = await services.policies.load(principal.tenantId);
  const { embed } = principal;
  const used = embed && (embed.workspaceId ?? soleWorkspace(policy, principal));
  const ids = Object.keys(policy.workspaces)
    .filter((id) => isMember(policy, id, principal) && (!embed || id === used))
    .sort();
  const workspaces = [...names].flatMap((name) => ids.map((id) => ({ name, id })));
  return Response.json({ workspaces });
}
