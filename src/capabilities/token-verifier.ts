import type { Principal } from "../protocol/principal.ts";
import type { Result } from "../protocol/result.ts";
import type { AuthenticationFailure } from "./authenticator.ts";

/**
 * Tells who holds a token of one kind.
 * Contract: never throws; lets nobody in whom it cannot verify.
 */
export interface TokenVerifier {
  verify(token: string): Promise<Result<Principal, AuthenticationFailure>>;
}
