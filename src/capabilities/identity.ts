import type { Principal } from "../protocol/identity/principal.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { EmbedGrant } from "../protocol/identity/embed-grant.ts";
import type { ActorId, TenantId } from "../protocol/identity/ids.ts";

/**
 * Why a request has no principal. `identity_unavailable`: the keys of the issuer cannot be fetched.
 */
export interface AuthenticationFailure {
  readonly code: "missing_token" | "invalid_token" | "identity_unavailable";
  /** Why, for the log. It repeats nothing of the token. */
  readonly reason?: string;
}

/**
 * Authenticates the sender of a request from its headers alone.
 * Contract: never throws; refuses every caller that it cannot verify; timing reveals nothing about
 * a secret.
 */
export interface Authenticator {
  authenticate(request: Request): Promise<Result<Principal, AuthenticationFailure>>;
}

/**
 * Verifies tokens of one kind.
 * Contract: never throws; refuses every token that it cannot verify.
 */
export interface TokenVerifier {
  verify(token: string): Promise<Result<Principal, AuthenticationFailure>>;
}

/** The content of a new embed token. */
export interface EmbedTokenOrder extends Omit<EmbedGrant, "id"> {
  readonly tenantId: TenantId;
  /** The person who uses the page. */
  readonly actorId: ActorId;
  readonly minterId: ActorId;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly ttlSeconds: number;
}

/**
 * Mints embed tokens. Contract: the caller has checked the order; a token serves its actor alone.
 */
export interface EmbedTokens {
  mint(order: EmbedTokenOrder): Promise<MintedToken>;
}

export interface MintedToken {
  readonly token: string;
  /** Unit: Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** One authorisation request. It holds references only, no secret (seeds/000, F1). */
export interface AuthorizationRequest {
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** Only the server sets it, when the actor acts for somebody. */
  readonly subjectId?: ActorId;
  /** The scopes of the authenticated caller. */
  readonly scopes: readonly string[];
  readonly action: "tool.execute" | "connection.use";
  /** Tool id or connection id, depending on the action. */
  readonly resource: string;
  /** The tool that will run or use the connection. */
  readonly toolId: string;
  /** Scopes that contract and policy require. */
  readonly requiredScopes: readonly string[];
}

export type AuthorizationAnswer = "allow" | "no_permission" | "no_delegation";

/**
 * Decides whether a principal may act. With a subject it checks both the permission and the
 * delegation (seeds/000, F1).
 * Contract: a throw counts as a refusal.
 */
export interface AuthorizationPort {
  check(request: AuthorizationRequest): Promise<AuthorizationAnswer>;
}

/**
 * Tells whether any tenant allows the pages of an origin. A preflight has no principal, so no more
 * can be checked. The request that follows is checked against the policy of its own tenant.
 * Contract: never throws; an unreadable entry counts as not listed; the answer may be a minute old.
 */
export interface OriginIndex {
  isListed(origin: string): Promise<boolean>;
}
