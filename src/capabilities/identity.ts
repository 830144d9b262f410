import type { Principal } from "../protocol/identity/principal.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { EmbedGrant } from "../protocol/identity/embed-grant.ts";
import type { ActorId, TenantId } from "../protocol/identity/ids.ts";

/** Why a request has no principal; `identity_unavailable` when nobody can tell at the moment. */
export type AuthenticationFailure = {
  readonly code: "missing_token" | "invalid_token" | "identity_unavailable";
};

/**
 * Tells who sends a request, from its headers alone.
 * Contract: never throws; lets nobody in whom it cannot verify; time tells nothing about a secret.
 */
export interface Authenticator {
  authenticate(request: Request): Promise<Result<Principal, AuthenticationFailure>>;
}

/**
 * Tells who holds a token of one kind.
 * Contract: never throws; lets nobody in whom it cannot verify.
 */
export interface TokenVerifier {
  verify(token: string): Promise<Result<Principal, AuthenticationFailure>>;
}

/** What a page's token says. */
export interface EmbedOrder extends Omit<EmbedGrant, "id"> {
  readonly tenantId: TenantId;
  /** On whose account the page acts. */
  readonly actorId: ActorId;
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
}

/** Makes tokens for pages. Contract: what is ordered was checked; a token of it lets in nobody else. */
export interface EmbedTokens {
  mint(order: EmbedOrder): Promise<MintedToken>;
}

export interface MintedToken {
  readonly token: string;
  /** Unit: Unix milliseconds. */
  readonly expiresAtMs: number;
}

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

/**
 * Tells whether any tenant admits the pages of an origin. A preflight has no principal, so this is all
 * that can be known of it; the request that follows is checked against the policy of its own tenant.
 * Contract: never throws; what cannot be read is not listed. It may be a minute old.
 */
export interface OriginIndex {
  isListed(origin: string): Promise<boolean>;
}
