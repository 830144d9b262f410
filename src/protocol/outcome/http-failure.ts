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
 * After an answer that cannot be read nobody knows whether the effect happened; and who finds its own
 * key in use is not refused, its earlier attempt is still under way.
 */
const OF_WRITES: { readonly [Code in HttpErrorCode]: FailureClass } = {
  ...OF_READS,
  http_unreadable: "DEPENDENCY_UNAVAILABLE",
  http_conflict: "IDEMPOTENCY_CONFLICT",
};

/** How an exchange over HTTP goes wrong for a tool. */
export type HttpErrorCode = keyof typeof OF_READS;

/** What a contract with the capability `http` declares of itself: the class of each code. */
export function httpErrorsOf(effect: ToolEffect): {
  readonly [Code in HttpErrorCode]: FailureClass;
} {
  return effect === "read_only" ? OF_READS : OF_WRITES;
}

/**
 * Words a failure over HTTP. Its class is that of a read; the contract's own, by the code, takes its
 * place.
 * Contract: `message` is ours, never the other side's.
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
