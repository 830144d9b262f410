import { type Follower, mayFollow, soleWorkspace } from "../../protocol/policy/membership.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";

/**
 * `GET /v1/workspaces`: lists the workspaces whose changes the caller may follow, each under the
 * names of which the policy allows a tool. An embed token sees the one that its runs use.
 */
export async function listWorkspaces(
  asked: AuthorisedRequest,
  names: ReadonlySet<string>,
): Promise<Response> {
  const { principal, services } = asked;
  const { policy } = await services.policies.load(principal.tenantId);
  const { embed } = principal;
  const used = embed && (embed.workspaceId ?? soleWorkspace(policy, principal));
  const ids = Object.keys(policy.workspaces)
    .filter((id) => !embed || id === used)
    .sort();
  const workspaces = [...names].flatMap((name) => {
    const follower = followerOf(asked, name);
    return ids.filter((id) => mayFollow(policy, id, follower)).map((id) => ({ name, id }));
  });
  return Response.json({ workspaces });
}

/** Reads who would follow the workspaces of a name. */
export function followerOf(
  { principal, services }: Pick<AuthorisedRequest, "principal" | "services">,
  name: string,
): Follower {
  const { actorId, subjectId, roles, embed } = principal;
  const toolIds = services.toolSpecs
    .filter((spec) => spec.workspace === name && (embed?.toolIds.includes(spec.name) ?? true))
    .map((spec) => spec.name);
  const { origin, workspaceId } = embed ?? {};
  return {
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    roles,
    toolIds: [...new Set(toolIds)],
    ...(origin !== undefined && { page: { origin, workspaceId } }),
  };
}
