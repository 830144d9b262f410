import type { Principal } from "../protocol/principal.ts";
import type { Result } from "../protocol/result.ts";

/** Why a request has no principal. */
export type AuthenticationFailure = { readonly code: "missing_token" | "invalid_token" };

/**
 * Tells who sends a request, from its headers alone.
 * Contract: never throws; takes the same time for every wrong token.
 */
export interface Authenticator {
  authenticate(request: Request): Promise<Result<Principal, AuthenticationFailure>>;
}
