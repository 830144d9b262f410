import { failCall } from "../protocol/outcome/failures.ts";

/** The arguments of an operation have too many bytes. */
export const ARGUMENTS_TOO_LONG = failCall("arguments_too_long").failure;
/** A call without a key names an operation that writes. */
export const NO_KEY = failCall("read_only").failure;
/** Another write has the same key: a call of a tool wrote twice, or its arguments changed. */
export const OTHER_PAYLOAD = failCall(
  "other_payload",
  "another write was made under the key of this call",
).failure;
export const TOO_LATE = failCall("deadline_passed").failure;
export const UNKNOWN_OPERATION = failCall("unknown_operation").failure;
export const OPERATION_FAILED = failCall("operation_failed").failure;
/** The tables could not be brought to the version of this code, or newer code wrote them. */
export const UNUSABLE = failCall("workspace_unavailable").failure;
