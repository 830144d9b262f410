import type { Principal } from "../identity/principal.ts";
import type { ConnectionId } from "../identity/ids.ts";
import type { ToolSpec } from "../tool/spec.ts";
import type { Caller } from "./callers.ts";
import type { ToolPolicy } from "./document.ts";
import { effectiveConnections } from "./grant.ts";
import { isMember } from "./membership.ts";
import { isDelegated, scopesFor } from "./permission.ts";

/** A caller, and what its run may use. */
export interface ToolUser extends Caller, Pick<Principal, "scopes"> {
  /** Connections that the run names. */
  readonly connectionIds: readonly ConnectionId[];
  /** The workspace of the run; undefined when it has none. */
  readonly workspaceId: string | undefined;
}

/**
 * Tells whether calls of a tool can pass the gate `authorise`: the user has the scopes, a
 * delegation where one is needed, a granted connection and a workspace. Contract: pure.
 */
export function mayUse(
  policy: ToolPolicy,
  tool: Pick<ToolSpec, "requiredScopes" | "requiresConnection" | "workspace"> & {
    readonly id: string;
  },
  { nowMs, ...user }: ToolUser & { readonly nowMs: number },
): boolean {
  const { actorId, scopes, connectionIds: requested, workspaceId } = user;
  const { id: toolId, requiresConnection, workspace } = tool;
  const { grants } = policy;
  return (
    scopesFor(policy, tool).every((scope) => scopes.includes(scope)) &&
    isDelegated(policy, user, toolId) &&
    (!requiresConnection ||
      effectiveConnections({ grants, requested, toolId, actorId, nowMs }).length > 0) &&
    (workspace === undefined || (workspaceId !== undefined && isMember(policy, workspaceId, user)))
  );
}
