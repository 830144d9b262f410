import { specsOf } from "../../contracts/catalog/registered.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { type Follower, mayFollow, soleWorkspace } from "../../protocol/policy/membership.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
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
  const specs = specsOf(await asked.contracts());
  const workspaces = [...names].flatMap((name) => {
    const follower = followerOf(principal, specs, name);
    return ids.filter((id) => mayFollow(policy, id, follower)).map((id) => ({ name, id }));
  });
  return Response.json({ workspaces });
}

/** Reads who would follow the workspaces of a name. */
export function followerOf(
  { actorId, subjectId, roles, embed }: Principal,
  specs: readonly ToolSpec[],
  name: string,
): Follower {
  const toolIds = specs
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
