import type {
  AuthorizationAnswer,
  AuthorizationPort,
  AuthorizationQuestion,
} from "../capabilities/identity.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";

/** Authorises by the scopes of the token and the delegations of a policy. */
export function createPolicyAuthorization(policy: ToolPolicy): AuthorizationPort {
  return { check: (question) => Promise.resolve(answer(policy, question)) };
}

function answer(policy: ToolPolicy, question: AuthorizationQuestion): AuthorizationAnswer {
  const { scopes, requiredScopes } = question;
  if (!requiredScopes.every((scope) => scopes.includes(scope))) return "no_permission";
  return isDelegated(policy.delegations, question) ? "allow" : "no_delegation";
}

/**
 * Nobody needs leave to act for themselves. Acting for anyone else takes a delegation that names both
 * and the tool; that holds for the tool's connection too.
 */
function isDelegated(
  delegations: ToolPolicy["delegations"],
  { actorId, subjectId, toolId }: AuthorizationQuestion,
): boolean {
  if (subjectId === undefined || subjectId === actorId) return true;
  return delegations.some(
    (delegation) =>
      delegation.actorId === actorId &&
      delegation.subjectId === subjectId &&
      delegation.tools.includes(toolId),
  );
}
