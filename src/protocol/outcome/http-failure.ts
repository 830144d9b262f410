import type { ToolFailure } from "./observation.ts";
import { fail } from "./result.ts";
import type { FailureClass } from "./taxonomy.ts";
import type { ToolEffect } from "../tool/effect.ts";

const OF_READS = {
  http_refused: "POLICY_VIOLATION",
  http_unavailable: "DEPENDENCY_UNAVAILABLE",
  http_unreadable: "OBSERVATION_NORMALIZATION_FAIL",
  http_rate_limited: "RATE_LIMITED",
  http_forbidden: "PERMISSION_DENIED",
  http_conflict: "STALE_STATE",
  http_stale: "STALE_STATE",
  http_rejected: "SEMANTIC_INVALIDITY",
} as const satisfies { readonly [code: string]: FailureClass };

/**
 * An unreadable answer to a write leaves the outcome unknown. A conflict on a write means that an
 * earlier attempt under the same key is still running.
 */
const OF_WRITES: { readonly [Code in HttpErrorCode]: FailureClass } = {
  ...OF_READS,
  http_unreadable: "DEPENDENCY_UNAVAILABLE",
  http_conflict: "IDEMPOTENCY_CONFLICT",
};

/** Failure codes of a tool's HTTP exchange. */
export type HttpErrorCode = keyof typeof OF_READS;

/**
 * Errors that `defineTool` adds to a contract with the capability `http`: the class of each code.
 */
export function httpErrorsOf(effect: ToolEffect): {
  readonly [Code in HttpErrorCode]: FailureClass;
} {
  return effect === "read_only" ? OF_READS : OF_WRITES;
}

/**
 * Makes a failure of an HTTP exchange with the class of a read. The class that the contract
 * declares for the code replaces it later.
 * Contract: `message` is Interlock's own text, never the service's.
 */
export function failHttp(
  code: HttpErrorCode,
  message: string,
  retryAfterMs?: number,
): { readonly ok: false; readonly failure: ToolFailure } {
  return fail({
    taxonomyClass: OF_READS[code],
    errors: [{ field: null, code, message }],
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
