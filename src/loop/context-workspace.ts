import type { ContextRequest } from "../capabilities/context.ts";
import type { Workspace, WorkspaceBinder } from "../capabilities/workspace.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import { isMember } from "../protocol/policy/membership.ts";
import { deny } from "../runner/gates/authorise.ts";
import { readCurrentPolicy, type CurrentPolicyPorts } from "../runner/terms.ts";

/** What the context hook's access to a workspace is made of. */
export interface ContextWorkspaceParts extends CurrentPolicyPorts {
  readonly workspaces: WorkspaceBinder;
  readonly principal: Principal;
  /** The workspace of the run. */
  readonly workspaceId: string;
  /** How long each read may take. Unit: milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Gives the context hook the workspace of the run, to read it.
 * Threat: a member was removed, and the hook shows the model what the member may not read any more.
 * So each read asks the current policy too, and its answer is dropped when that policy refuses.
 */
export function openForContext(
  parts: ContextWorkspaceParts,
): NonNullable<ContextRequest["openWorkspace"]> {
  const { workspaces, principal, workspaceId, timeoutMs, policy } = parts;
  const { tenantId, actorId, subjectId } = principal;
  const person = { tenantId, actorId, ...(subjectId !== undefined && { subjectId }) };
  return (name) => {
    const workspace = workspaces.bind({ name, user: { ...person, workspaceId }, timeoutMs });
    const call: Workspace["call"] = async (operation, args) => {
      if (!isMember(policy, workspaceId, principal)) return deny("no_workspace");
      const [current, answer] = await Promise.all([
        readCurrentPolicy(parts),
        workspace.call(operation, args),
      ]);
      if (!current.ok) return current;
      return isMember(current.value.policy, workspaceId, principal) ? answer : deny("no_workspace");
    };
    return { call };
  };
}
