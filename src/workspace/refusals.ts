import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { FailureClass } from "../protocol/outcome/taxonomy.ts";

/** The arguments of an operation have too many bytes. */
export const ARGUMENTS_TOO_LONG = refuse(
  "OUT_OF_BOUNDS",
  "arguments_too_long",
  "the arguments of the operation are too long",
);
/** A call without a key names an operation that writes. */
export const NO_KEY = refuse(
  "POLICY_VIOLATION",
  "read_only",
  "a call that may only read named an operation that writes",
);
/** Another write has the same key: a call of a tool wrote twice, or its arguments changed. */
export const OTHER_PAYLOAD = refuse(
  "SIGNATURE_MISMATCH",
  "other_payload",
  "another write was made under the key of this call",
);
export const TOO_LATE = refuse(
  "TIMEOUT",
  "deadline_passed",
  "the call reached the workspace after its deadline; nothing was changed",
);
export const UNKNOWN_OPERATION = refuse(
  "STRUCTURAL_VIOLATION",
  "unknown_operation",
  "the workspace has no such operation",
);
export const OPERATION_FAILED = refuse(
  "UNKNOWN_ERROR",
  "operation_failed",
  "the operation failed; nothing was changed",
);
/** The tables could not be brought to the version of this code, or newer code wrote them. */
export const UNUSABLE = refuse(
  "DEPENDENCY_UNAVAILABLE",
  "workspace_unavailable",
  "the workspace cannot be opened; nothing was changed",
);

function refuse(taxonomyClass: FailureClass, code: string, message: string): ToolFailure {
  return { taxonomyClass, errors: [{ field: null, code, message }] };
}
