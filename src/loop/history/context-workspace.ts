import type { ContextRequest } from "../../capabilities/context.ts";
import type { RowSources, Workspace, WorkspaceBinder } from "../../capabilities/workspace.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { entryOf } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isMember } from "../../protocol/policy/membership.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import { deny } from "../../runner/gates/authorise.ts";
import { readCurrentPolicy, type CurrentPolicyPorts } from "../../runner/terms.ts";

/** What the context hook's access to a workspace is made of. */
export interface ContextWorkspaceParts extends CurrentPolicyPorts {
  readonly workspaces: WorkspaceBinder;
  readonly specs: readonly ToolSpec[];
  readonly principal: Principal;
  /** The workspace of the run. */
  readonly workspaceId: string;
  readonly runId: RunId;
  /** The first run of the conversation. */
  readonly conversationId: RunId;
  /** How long each read may take. Unit: milliseconds. */
  readonly timeoutMs: number;
  /** Takes what its rows were written after. */
  readonly noteRows: RowSources["note"];
}

/**
 * Gives the context hook the workspace of the run, to read it: as far as the caller is a member,
 * and the run has a tool that could read it.
 * Threat: a member was removed, or a page's token has no tool of the workspace, and the hook shows
 * the model what a tool may not. So each read asks the policy of the run, which names the run's own
 * tools, and the current one; its answer is dropped when one of them refuses.
 */
export function openForContext(
  parts: ContextWorkspaceParts,
): NonNullable<ContextRequest["openWorkspace"]> {
  const { workspaces, specs, principal, workspaceId, timeoutMs, policy: pinned } = parts;
  const { runId, conversationId, noteRows: note } = parts;
  const { tenantId, actorId, subjectId } = principal;
  const person = {
    runId,
    conversationId,
    tenantId,
    actorId,
    ...(subjectId !== undefined && { subjectId }),
  };
  const sources: RowSources = { list: () => [], hasRead: () => false, note };
  return (name) => {
    const user = { ...person, workspaceId };
    const workspace = workspaces.bind({ name, user, timeoutMs, sources });
    const toolIds = specs.filter((spec) => spec.workspace === name).map((spec) => spec.name);
    const isOpen = (policy: ToolPolicy): boolean =>
      isMember(policy, workspaceId, principal) && toolIds.some((id) => entryOf(policy, id));
    const call: Workspace["call"] = async (operation, args) => {
      if (!isOpen(pinned)) return deny("no_workspace");
      const [current, answer] = await Promise.all([
        readCurrentPolicy(parts),
        workspace.call(operation, args),
      ]);
      if (!current.ok) return current;
      return isOpen(current.value.policy) ? answer : deny("no_workspace");
    };
    return { call };
  };
}
