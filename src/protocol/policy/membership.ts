import type { Principal } from "../identity/principal.ts";
import { isDelegate } from "../identity/principal.ts";
import { entryOf } from "./decide.ts";
import type { ToolPolicy } from "./document.ts";

type Person = Pick<Principal, "actorId" | "subjectId" | "roles">;

/**
 * Tells whether a caller is a member of a workspace. An actor who acts for another person has to
 * be a member, and so has that person: by id, because the roles of a token are those of its actor.
 */
export function isMember(
  { workspaces }: Pick<ToolPolicy, "workspaces">,
  workspaceId: string,
  person: Person,
): boolean {
  const members = Object.hasOwn(workspaces, workspaceId) ? workspaces[workspaceId] : undefined;
  if (!members) return false;
  const { actorId, subjectId, roles } = person;
  const isActorIn =
    members.actors.includes(actorId) || members.roles.some((role) => roles.includes(role));
  const isSubjectIn =
    !isDelegate(person) || (subjectId !== undefined && members.actors.includes(subjectId));
  return isActorIn && isSubjectIn;
}

/** Finds the one workspace of a caller; undefined when there is none, or more than one. */
export function soleWorkspace(
  policy: Pick<ToolPolicy, "workspaces">,
  person: Person,
): string | undefined {
  const [only, ...others] = Object.keys(policy.workspaces).filter((id) =>
    isMember(policy, id, person),
  );
  return others.length === 0 ? only : undefined;
}

/** Who follows the changes of a workspace; the object of the workspace keeps it for each reader. */
export interface Follower extends Person {
  /** The tools of the workspace that the caller may name: of an embed token, its own. */
  readonly toolIds: readonly string[];
  /** The page of an embed token, and the workspace that the token binds. */
  readonly page?: { readonly origin: string; readonly workspaceId?: string | undefined };
}

/**
 * Tells whether a caller may hear which rows of a workspace change: a member with a tool of this
 * workspace that the policy allows. A page follows the workspace that its runs use, and no other.
 */
export function mayFollow(policy: ToolPolicy, workspaceId: string, follower: Follower): boolean {
  const { toolIds, page } = follower;
  const hasTool = toolIds.some((id) => entryOf(policy, id));
  if (!hasTool || !isMember(policy, workspaceId, follower)) return false;
  if (!page) return true;
  const used = page.workspaceId ?? soleWorkspace(policy, follower);
  return used === workspaceId && policy.origins.includes(page.origin);
}
