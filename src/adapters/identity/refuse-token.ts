import { errors } from "jose";
import type { AuthenticationFailure } from "../../capabilities/identity.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";

/** What the library refuses, in the words of the log. */
const REASONS: { readonly [code: string]: string | undefined } = {
  [errors.JWTExpired.code]: "has expired",
  [errors.JWSSignatureVerificationFailed.code]: "has a signature of another key",
  [errors.JWKSNoMatchingKey.code]: "names a key that its issuer does not serve",
  [errors.JOSEAlgNotAllowed.code]: "has an algorithm that is not accepted",
};

/**
 * Refuses a signed token, with a reason for the log that repeats nothing of the token.
 * `cause`: what was thrown when the token was verified, or the reason itself.
 */
export function refuseToken(token: string, cause: unknown): Result<never, AuthenticationFailure> {
  return fail({ code: "invalid_token", reason: `${token} ${formatCause(cause)}` });
}

function formatCause(cause: unknown): string {
  if (typeof cause === "string") return cause;
  if (cause instanceof errors.JWTClaimValidationFailed) return `has another ${cause.claim}`;
  const known = cause instanceof errors.JOSEError ? REASONS[cause.code] : undefined;
  return known ?? "has not the expected form";
}
