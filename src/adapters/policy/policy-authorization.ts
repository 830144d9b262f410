import type {
  AuthorizationAnswer,
  AuthorizationPort,
  AuthorizationRequest,
} from "../../capabilities/identity.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isDelegated } from "../../protocol/policy/permission.ts";

/** Authorises with the scopes of the token and the delegations of the policy. */
export function createPolicyAuthorization(policy: ToolPolicy): AuthorizationPort {
  return { check: (request) => Promise.resolve(decide(policy, request)) };
}

/** The delegation of a tool covers the connection that the tool uses. */
function decide(policy: ToolPolicy, request: AuthorizationRequest): AuthorizationAnswer {
  const { scopes, requiredScopes, toolId } = request;
  if (!requiredScopes.every((scope) => scopes.includes(scope))) return "no_permission";
  return isDelegated(policy, request, toolId) ? "allow" : "no_delegation";
}
