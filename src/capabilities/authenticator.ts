import type { Principal } from "../protocol/principal.ts";
import type { Result } from "../protocol/result.ts";

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
