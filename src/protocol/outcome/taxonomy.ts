/** The 21 taxonomy classes (seeds/004, ObservationObject.status.taxonomy_class). */
export const TAXONOMY_CLASSES = [
  "SUCCESS",
  "PARTIAL_SUCCESS",
  "SYNTACTIC_PARSE_FAIL",
  "STRUCTURAL_VIOLATION",
  "TYPE_MISMATCH",
  "OUT_OF_BOUNDS",
  "SEMANTIC_INVALIDITY",
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "STALE_STATE",
  "CONFIRMATION_MISSING",
  "BUDGET_EXHAUSTED",
  "RATE_LIMITED",
  "TIMEOUT",
  "IDEMPOTENCY_CONFLICT",
  "SIGNATURE_MISMATCH",
  "DEPENDENCY_UNAVAILABLE",
  "OBSERVATION_NORMALIZATION_FAIL",
  "COMPENSATION_REQUIRED",
  "COMPENSATION_FAILED",
  "UNKNOWN_ERROR",
] as const;
export type TaxonomyClass = (typeof TAXONOMY_CLASSES)[number];
export type FailureClass = Exclude<TaxonomyClass, "SUCCESS" | "PARTIAL_SUCCESS">;

/**
 * Tells whether a name is a failure class. Authors may write tools without the compiler's checks.
 */
export function isFailureClass(name: string): name is FailureClass {
  return Object.hasOwn(ERROR_CODES, name);
}

/**
 * What the class alone says about the response (seeds/004, "Tool Error Taxonomy"). `respond` adds
 * the dispatch state.
 */
export interface Response {
  /** The model may correct its arguments and call again. */
  readonly repairable: boolean;
  /** The same payload may be retried. */
  readonly retryable: boolean;
  readonly requiresApproval: boolean;
  readonly failClosed: boolean;
  /** HTTP-like number for the observation's `status.code`. */
  readonly status: number;
}

const response = (status: number, marks: Partial<Omit<Response, "status">> = {}): Response => ({
  repairable: false,
  retryable: false,
  requiresApproval: false,
  failClosed: false,
  ...marks,
  status,
});

const RESPONSES: { readonly [Class in TaxonomyClass]: Response } = {
  SUCCESS: response(200),
  PARTIAL_SUCCESS: response(207),
  SYNTACTIC_PARSE_FAIL: response(400, { repairable: true }),
  STRUCTURAL_VIOLATION: response(422, { repairable: true }),
  TYPE_MISMATCH: response(422, { repairable: true }),
  OUT_OF_BOUNDS: response(422, { repairable: true }),
  SEMANTIC_INVALIDITY: response(422, { repairable: true }),
  PERMISSION_DENIED: response(403, { failClosed: true }),
  POLICY_VIOLATION: response(403, { failClosed: true }),
  STALE_STATE: response(409, { repairable: true }),
  CONFIRMATION_MISSING: response(403, { requiresApproval: true, failClosed: true }),
  BUDGET_EXHAUSTED: response(429, { failClosed: true }),
  RATE_LIMITED: response(429, { retryable: true }),
  TIMEOUT: response(504, { retryable: true }),
  IDEMPOTENCY_CONFLICT: response(409, { retryable: true }),
  SIGNATURE_MISMATCH: response(409, { failClosed: true }),
  DEPENDENCY_UNAVAILABLE: response(503, { retryable: true }),
  OBSERVATION_NORMALIZATION_FAIL: response(502),
  COMPENSATION_REQUIRED: response(500),
  COMPENSATION_FAILED: response(500, { requiresApproval: true, failClosed: true }),
  UNKNOWN_ERROR: response(500, { failClosed: true }),
};

/** Reads the response of a class. */
export function responseTo(taxonomyClass: TaxonomyClass): Response {
  return RESPONSES[taxonomyClass];
}

/** The compact codes of seeds/000, "toolRunner pipeline". */
export type ToolErrorCode =
  | "unavailable"
  | "policy_denied"
  | "authz_denied"
  | "invalid_json"
  | "validation"
  | "execution"
  | "redaction_failed";

const ERROR_CODES: {
  readonly [Class in FailureClass]: ToolErrorCode;
} = {
  SYNTACTIC_PARSE_FAIL: "invalid_json",
  STRUCTURAL_VIOLATION: "validation",
  TYPE_MISMATCH: "validation",
  OUT_OF_BOUNDS: "validation",
  SEMANTIC_INVALIDITY: "validation",
  PERMISSION_DENIED: "authz_denied",
  POLICY_VIOLATION: "policy_denied",
  STALE_STATE: "execution",
  CONFIRMATION_MISSING: "policy_denied",
  BUDGET_EXHAUSTED: "policy_denied",
  RATE_LIMITED: "execution",
  TIMEOUT: "execution",
  IDEMPOTENCY_CONFLICT: "execution",
  SIGNATURE_MISMATCH: "policy_denied",
  DEPENDENCY_UNAVAILABLE: "execution",
  OBSERVATION_NORMALIZATION_FAIL: "redaction_failed",
  COMPENSATION_REQUIRED: "execution",
  COMPENSATION_FAILED: "execution",
  UNKNOWN_ERROR: "execution",
};

/**
 * Maps a failure class to its compact code. Only a missing tool is `unavailable`; see ToolFailure.
 */
export function toolErrorCode(taxonomyClass: FailureClass): ToolErrorCode {
  return ERROR_CODES[taxonomyClass];
}
