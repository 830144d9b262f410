import type {
  AuthorizationAnswer,
  AuthorizationPort,
  AuthorizationRequest,
} from "../../capabilities/identity.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** Authorises with the scopes of the token and the delegations of the policy. */
export function createPolicyAuthorization(policy: ToolPolicy): AuthorizationPort {
  return { check: (request) => Promise.resolve(decide(policy, request)) };
}

function decide(policy: ToolPolicy, request: AuthorizationRequest): AuthorizationAnswer {
  const { scopes, requiredScopes } = request;
  if (!requiredScopes.every((scope) => scopes.includes(scope))) return "no_permission";
  return isDelegated(policy.delegations, request) ? "allow" : "no_delegation";
}

/**
 * Acting for oneself needs no delegation. Acting for somebody else needs one that names actor,
 * subject and tool. The same holds for the connection that the tool uses.
 */
function isDelegated(
  delegations: ToolPolicy["delegations"],
  { actorId, subjectId, toolId }: AuthorizationRequest,
): boolean {
  if (subjectId === undefined || subjectId === actorId) return true;
  return delegations.some(
    (delegation) =>
      delegation.actorId === actorId &&
      delegation.subjectId === subjectId &&
      delegation.tools.includes(toolId),
  );
}
