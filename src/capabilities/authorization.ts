import type { ActorId, TenantId } from "../protocol/ids.ts";

/** May this actor, on whose behalf, do this to that? References only, no secret (seeds/000, F1). */
export interface AuthorizationQuestion {
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** Set by the server alone, when the actor acts for someone. */
  readonly subjectId?: ActorId;
  /** What the caller was granted at authentication. */
  readonly scopes: readonly string[];
  readonly action: "tool.execute" | "connection.use";
  /** Tool id or connection id, as the action says. */
  readonly resource: string;
  /** The tool that is to run, or that is to use the connection. */
  readonly toolId: string;
  /** Scopes that the contract and the policy demand. */
  readonly requiredScopes: readonly string[];
}

export type AuthorizationAnswer = "allow" | "no_permission" | "no_delegation";

/**
 * Answers whether a principal may act. With a subject, both the permission and the delegation are
 * checked (seeds/000, F1).
 * Contract: a throw counts as a refusal.
 */
export interface AuthorizationPort {
  check(question: AuthorizationQuestion): Promise<AuthorizationAnswer>;
}
